// Calls of the target `c_api` on sessions.
#include <algorithm>

#include "tests/fuzz/targets/c_api.h"
#include "tests/fuzz/targets/target.h"

namespace tenon::c_api_fuzz {
namespace {

// New tensors among a call's outputs.
template <size_t n>
void Keep(Objects& o, tenon_tensor* (&outputs)[n]) {
  for (tenon_tensor* output : outputs) {
    if (output != nullptr) *o.tensors.Empty(o.bytes) = output;
  }
}

}  // namespace

tenon_session_options DrawSessionOptions(Objects& o) {
  const char* const signatures[] = {nullptr, "serving_default", "none", ""};
  const char* const fetches[] = {nullptr, "y:0", "m:0,l:0", "a", ",", "y:1"};
  const char* const feeds[] = {nullptr, "m:0", "w", ""};
  const char* const plugins[] = {nullptr, "", "/no/such/plugin.so"};
  const char* const devices[] = {nullptr, "CPU:0", "APU:0", ""};
  const char* const precisions[] = {nullptr, "fp32", "bf16", "int8"};
  const char* const tags[] = {nullptr, "serve", "serve,gpu", ""};
  const int64_t limits[] = {0, 1, int64_t{1} << 20, -1};
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.threads = o.bytes.Byte() == 255 ? -1 : 1;
  options.onednn_opts = static_cast<int>(o.bytes.Below(3)) - 1;
  // Bits of a mask, so that most fields are as most callers leave them.
  const uint8_t set = o.bytes.Byte();
  if ((set & 1) != 0) options.signature = o.Pick(signatures);
  if ((set & 2) != 0) options.fetches = o.Pick(fetches);
  if ((set & 4) != 0) options.feeds = o.Pick(feeds);
  if ((set & 8) != 0) options.plugins = o.Pick(plugins);
  if ((set & 16) != 0) options.device = o.Pick(devices);
  if ((set & 32) != 0) options.precision = o.Pick(precisions);
  if ((set & 64) != 0) options.tags = o.Pick(tags);
  if ((set & 128) != 0) {
    options.memory_limit = limits[o.bytes.Below(std::size(limits))];
    // The struct of an older caller, which ends after some field.
    options.size = o.bytes.Below(sizeof(options) / sizeof(size_t) + 1) * sizeof(size_t);
  }
  return options;
}

void CreateSession(Objects& o) {
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.threads = 1;
  options.onednn_opts = static_cast<int>(o.bytes.Below(3)) - 1;
  const char* const fetches[] = {nullptr, "y:0", "m:0,l:0", "x", "", "z", ",", "y:1"};
  options.fetches = o.Pick(fetches);
  const char* const feeds[] = {nullptr, "m:0", "w", "", "y:0,x:0"};
  options.feeds = o.Pick(feeds);
  const char* const precisions[] = {nullptr, "fp32", "bf16", "int8", ""};
  options.precision = o.Pick(precisions);
  const tenon_model* model = o.models.At(o.bytes);
  if (model == nullptr) return;
  o.FreeGenerator();
  Done(tenon_session_create_from_model(model, &options, o.sessions.Empty(o.bytes)));
}

void CreateSessionFromPath(Objects& o) {
  const tenon_session_options options = DrawSessionOptions(o);
  const bool from_path = o.bytes.Bool();
  o.FreeGenerator();
  if (from_path) {
    const std::string path = ModelPath(o);
    return Done(tenon_session_create(path.c_str(), &options, o.sessions.Empty(o.bytes)));
  }
  const tenon_model* model = o.models.Live(o.bytes);
  Done(tenon_session_create_from_model(model, &options, o.sessions.Empty(o.bytes)));
}

void RunSession(Objects& o) {
  tenon_session* s = o.sessions.At(o.bytes);
  if (s == nullptr) return;
  const tenon_tensor* inputs[] = {o.tensors.At(o.bytes), o.tensors.At(o.bytes)};
  const int num_inputs = static_cast<int>(o.bytes.Below(3));
  tenon_tensor* outputs[3] = {};
  const int num_outputs = o.bytes.Byte() < 200 ? std::min(tenon_session_num_outputs(s), 3)
                                               : static_cast<int>(o.bytes.Below(4));
  const uint8_t how = o.bytes.Byte();
  if (how < 96) {
    Done(tenon_session_run(s, inputs, num_inputs, outputs, num_outputs));
  } else {
    const char* const names[] = {"x", "s:0", "y", "none"};
    const char* input_names[] = {names[how % 4], names[how / 4 % 4]};
    tenon_run_options options = TENON_RUN_OPTIONS_INIT;
    options.timeout_ns = how % 16 == 0 ? -1 : 0;
    options.profile = o.profile;
    Done(tenon_session_run_with(s, &options, how % 2 == 0 ? input_names : nullptr, inputs,
                                num_inputs, nullptr, outputs, num_outputs));
  }
  Keep(o, outputs);
}

// Outputs by name, into tensors that live already: perhaps inputs, or of another shape.
void RunSessionInto(Objects& o) {
  tenon_session* s = o.sessions.Live(o.bytes);
  if (s == nullptr) return;
  const tenon_tensor* inputs[] = {o.tensors.Live(o.bytes), o.tensors.Live(o.bytes),
                                  o.tensors.Live(o.bytes)};
  const int num_inputs = std::min(tenon_session_num_inputs(s), 3);
  tenon_run_options options = TENON_RUN_OPTIONS_INIT;
  options.cancel = o.cancels.At(o.bytes);
  const uint8_t how = o.bytes.Byte();
  if ((how & 1) != 0) options.profile = o.profile;
  const char* names[2] = {};
  tenon_tensor* outputs[2] = {};
  for (int i = 0; i < 2; ++i) {
    names[i] = tenon_session_output_name(s, static_cast<int>(o.Dim()));
    if (o.bytes.Bool() && o.may_write) outputs[i] = o.tensors.At(o.bytes);
  }
  const tenon_tensor* const given[] = {outputs[0], outputs[1]};
  const int num_outputs = static_cast<int>(o.bytes.Below(3));
  Done(tenon_session_run_with(s, (how & 2) != 0 ? nullptr : &options, nullptr, inputs, num_inputs,
                              (how & 4) != 0 ? nullptr : names, outputs, num_outputs));
  for (int i = 0; i < 2; ++i) {
    if (given[i] == nullptr) continue;
    if (outputs[i] != given[i]) FuzzFailure("a run replaced the caller's tensor");
    outputs[i] = nullptr;
  }
  Keep(o, outputs);
}

void AskSession(Objects& o) {
  const tenon_session* s = o.sessions.At(o.bytes);
  if (s == nullptr) return;
  const int index = static_cast<int>(o.Dim());
  const int64_t* dims = nullptr;
  const bool is_input = index >= 0 && index < tenon_session_num_inputs(s);
  if ((tenon_session_input_name(s, index) != nullptr) != is_input) FuzzFailure("an input's name");
  (void)tenon_session_output_name(s, index);
  (void)tenon_session_input_dtype(s, index);
  (void)tenon_session_output_dtype(s, index);
  (void)tenon_session_input_shape(s, index, &dims);
  (void)tenon_session_output_shape(s, index, &dims);
  tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
  Done(tenon_session_input(s, index, &spec));
  Done(tenon_session_output(s, index, &spec));
  tenon_memory memory = TENON_MEMORY_INIT;
  Done(tenon_session_memory(s, &memory));
  if (memory.weights < 0 || memory.held > memory.peak) FuzzFailure("a session's memory");
  GetText([&](tenon_text** text) { return tenon_session_report(s, text); });
}

void CheckRows(Objects& o) {
  const tenon_session* s = o.sessions.Live(o.bytes);
  const tenon_tensor* inputs[] = {o.tensors.Live(o.bytes), o.tensors.Live(o.bytes)};
  const char* const names[] = {"x", "s:0", "features", "none", nullptr};
  const char* const input_names[] = {o.Pick(names), o.Pick(names)};
  const int num_inputs = static_cast<int>(o.bytes.Below(4)) - 1;
  Done(tenon_session_check_rows(s, o.bytes.Bool() ? input_names : nullptr, inputs,
                                std::min(num_inputs, 2)));
}

void Cancel(Objects& o) {
  if (o.bytes.Byte() % 4 == 0) {
    o.FreeGenerator();
    tenon_cancel** place = o.cancels.Empty(o.bytes);
    *place = tenon_cancel_create();
    if (*place != nullptr && tenon_cancel_requested(*place) != 0) FuzzFailure("cancelled at birth");
    return;
  }
  tenon_cancel* const cancel = o.cancels.At(o.bytes);
  if (cancel == nullptr) return;
  tenon_cancel_request(cancel);
  if (tenon_cancel_requested(cancel) == 0) FuzzFailure("not cancelled");
}

void ReadVariable(Objects& o) {
  const tenon_session* s = o.sessions.At(o.bytes);
  if (s == nullptr) return;
  const int index = static_cast<int>(o.Dim());
  const char* const name = tenon_session_variable_name(s, index);
  const bool exists = index >= 0 && index < tenon_session_num_variables(s);
  if ((name != nullptr) != exists) FuzzFailure("a variable's name");
  Done(tenon_session_read_variable(s, exists ? name : "v", o.tensors.Empty(o.bytes)));
}

void AssignVariable(Objects& o) {
  tenon_session* s = o.sessions.Live(o.bytes);
  const int index = static_cast<int>(o.Dim());
  const char* const name = s == nullptr ? "v" : tenon_session_variable_name(s, index);
  Done(tenon_session_assign_variable(s, name, o.tensors.Live(o.bytes)));
}

}  // namespace tenon::c_api_fuzz
