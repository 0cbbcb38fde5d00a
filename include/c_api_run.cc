// The C interface over Session::Run: runs by position and by name, into the caller's memory, until
// a deadline or until they are cancelled.
#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "env/status.h"
#include "include/c_api_profile.h"
#include "include/c_api_types.h"
#include "tenon/tenon.h"

namespace {

using tenon::Guard;
using tenon::InvalidArgument;
using tenon::Session;
using tenon::Tensor;

struct Call {
  const tenon_run_options* options = nullptr;
  const char* const* input_names = nullptr;
  const tenon_tensor* const* inputs = nullptr;
  int num_inputs = 0;
  const char* const* output_names = nullptr;
  tenon_tensor** outputs = nullptr;
  int num_outputs = 0;
};

absl::StatusOr<std::vector<Tensor>> InputsOf(const Call& call, const Session& session) {
  std::vector<Tensor> inputs;
  if (call.input_names == nullptr) {
    for (int i = 0; i < call.num_inputs; ++i) {
      inputs.push_back(call.inputs[i] == nullptr ? Tensor() : call.inputs[i]->tensor);
    }
    return inputs;
  }
  std::vector<tenon::NamedTensor> named;
  for (int i = 0; i < call.num_inputs; ++i) {
    if (call.input_names[i] == nullptr) return InvalidArgument("the name of input ", i, " is null");
    if (call.inputs[i] == nullptr) continue;
    named.emplace_back(call.input_names[i], call.inputs[i]->tensor);
  }
  return session.Arrange(named);
}

// Which of the session's outputs each of the caller's is.
absl::StatusOr<std::vector<size_t>> PositionsOf(const Call& call, const Session& session) {
  const auto& infos = session.outputs();
  std::vector<size_t> positions;
  if (call.output_names == nullptr) {
    if (static_cast<size_t>(call.num_outputs) != infos.size()) {
      return InvalidArgument("the model has ", infos.size(), " outputs, but the caller asked for ",
                             call.num_outputs);
    }
    for (size_t i = 0; i < infos.size(); ++i) positions.push_back(i);
    return positions;
  }
  for (int i = 0; i < call.num_outputs; ++i) {
    if (call.output_names[i] == nullptr) {
      return InvalidArgument("the name of output ", i, " is null");
    }
    const absl::string_view name = absl::StripSuffix(call.output_names[i], ":0");
    const auto found = std::find_if(infos.begin(), infos.end(), [&](const tenon::TensorInfo& info) {
      return absl::StripSuffix(info.name, ":0") == name;
    });
    if (found == infos.end()) {
      const auto append = [](std::string* out, const tenon::TensorInfo& info) {
        absl::StrAppend(out, "'", info.name, "'");
      };
      return InvalidArgument("the model has no output '", call.output_names[i], "'; it gives ",
                             absl::StrJoin(infos, ", ", append));
    }
    positions.push_back(static_cast<size_t>(found - infos.begin()));
    if (std::count(positions.begin(), positions.end(), positions.back()) > 1) {
      return InvalidArgument("output '", call.output_names[i], "' is asked for twice");
    }
  }
  return positions;
}

absl::Status Run(tenon_session* session, const Call& call, bool new_outputs) {
  if (session == nullptr || call.num_inputs < 0 || call.num_outputs < 0 ||
      (call.num_inputs > 0 && call.inputs == nullptr) ||
      (call.num_outputs > 0 && call.outputs == nullptr)) {
    return InvalidArgument("null argument");
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<size_t> positions, PositionsOf(call, *session->session));
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, InputsOf(call, *session->session));
  TENON_ASSIGN_OR_RETURN(tenon::RunOptions options, tenon::ReadRunOptions(call.options));
  std::vector<Tensor> into;
  for (size_t i = 0; i < positions.size() && !new_outputs; ++i) {
    if (call.outputs[i] == nullptr) continue;
    into.resize(session->session->outputs().size());
    into[positions[i]] = call.outputs[i]->tensor;
  }
  options.into = into;
  absl::StatusOr<std::vector<Tensor>> ran = session->session->Run(inputs, options);
  if (options.observer != nullptr) {
    static_cast<tenon_profile*>(options.observer)->EndRun(ran.ok());
  }
  if (!ran.ok()) return ran.status();
  std::vector<Tensor>& results = *ran;
  std::vector<std::unique_ptr<tenon_tensor>> made(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!into.empty() && into[positions[i]].valid()) continue;
    made[i] = std::make_unique<tenon_tensor>(tenon_tensor{std::move(results[positions[i]])});
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] != nullptr) call.outputs[i] = made[i].release();
  }
  return absl::OkStatus();
}

}  // namespace

namespace tenon {

absl::StatusOr<RunOptions> ReadRunOptions(const tenon_run_options* given) {
  const tenon_run_options defaults = TENON_RUN_OPTIONS_INIT;
  TENON_ASSIGN_OR_RETURN(const tenon_run_options wanted, ReadStruct(given, defaults));
  RunOptions options;
  options.observer = wanted.profile;
  if (wanted.cancel != nullptr) options.stop.cancelled = &wanted.cancel->requested;
  if (wanted.timeout_ns != 0) {
    using Clock = StopCondition::Clock;
    const Clock::time_point now = Clock::now();
    const auto left = Clock::time_point::max() - now;
    const std::chrono::nanoseconds timeout(wanted.timeout_ns);
    if (timeout < left) options.stop.deadline = now + timeout;
  }
  return options;
}

}  // namespace tenon

tenon_status* tenon_session_run(tenon_session* session, const tenon_tensor* const* inputs,
                                int num_inputs, tenon_tensor** outputs, int num_outputs) {
  const Call call = {
      .inputs = inputs, .num_inputs = num_inputs, .outputs = outputs, .num_outputs = num_outputs};
  return Guard([&] { return Run(session, call, /*new_outputs=*/true); });
}

tenon_status* tenon_session_run_with(tenon_session* session, const tenon_run_options* options,
                                     const char* const* input_names,
                                     const tenon_tensor* const* inputs, int num_inputs,
                                     const char* const* output_names, tenon_tensor** outputs,
                                     int num_outputs) {
  const Call call = {options, input_names, inputs, num_inputs, output_names, outputs, num_outputs};
  return Guard([&] { return Run(session, call, /*new_outputs=*/false); });
}

tenon_status* tenon_session_check_rows(const tenon_session* session, const char* const* input_names,
                                       const tenon_tensor* const* inputs, int num_inputs) {
  Call call;
  call.input_names = input_names;
  call.inputs = inputs;
  call.num_inputs = num_inputs;
  return Guard([&]() -> absl::Status {
    if (session == nullptr || num_inputs < 0 || (num_inputs > 0 && inputs == nullptr)) {
      return InvalidArgument("null argument");
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, InputsOf(call, *session->session));
    return session->session->CheckRowsApart(tensors);
  });
}

tenon_cancel* tenon_cancel_create(void) { return new (std::nothrow) tenon_cancel; }
void tenon_cancel_request(tenon_cancel* cancel) {
  cancel->requested.store(true, std::memory_order_relaxed);
}
int tenon_cancel_requested(const tenon_cancel* cancel) {
  return cancel->requested.load(std::memory_order_relaxed) ? 1 : 0;
}
void tenon_cancel_free(tenon_cancel* cancel) { delete cancel; }
