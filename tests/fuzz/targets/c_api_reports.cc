// Calls of the target `c_api` that give reports.
#include <cmath>
#include <cstring>

#include "tests/fuzz/targets/c_api.h"
#include "tests/fuzz/targets/target.h"

namespace tenon::c_api_fuzz {
namespace {

// What is common to the two calls that explore a model.
struct Exploring {
  explicit Exploring(Objects& o)
      : model(o.models.Live(o.bytes)),
        options(DrawSessionOptions(o)),
        inputs{o.tensors.Live(o.bytes), o.tensors.Live(o.bytes)},
        num_inputs(static_cast<int>(o.bytes.Below(4)) - 1) {
    // Nothing is measured, which would take time and depend on it.
    const uint8_t how = o.bytes.Byte();
    if (how == 254) seconds = -1;
    if (how == 255) seconds = std::nan("");
    if (num_inputs > 2) num_inputs = 2;
  }
  const tenon_model* model;
  tenon_session_options options;
  const tenon_tensor* inputs[2];
  int num_inputs;
  double seconds = 0;
};

}  // namespace

void Profile(Objects& o) {
  if (o.profile == nullptr) o.profile = tenon_profile_create();
  if (tenon_profile_num_runs(o.profile) < 0) FuzzFailure("a profile's runs");
  GetText([&](tenon_text** text) { return tenon_profile_report(o.profile, text); });
  GetText([&](tenon_text** text) { return tenon_profile_trace(o.profile, text); });
  if (!o.bytes.Bool()) return;
  tenon_profile_clear(o.profile);
  if (tenon_profile_num_runs(o.profile) != 0) FuzzFailure("a cleared profile has runs");
}

// Paths of no plug-ins: loading one runs its code, and stays for all later inputs.
void AskDevices(Objects& o) {
  const char* const plugins[] = {nullptr, "", ":", "/no/such/plugin.so", "/proc/self/maps"};
  const char* const paths = o.Pick(plugins);
  GetText([&](tenon_text** text) { return tenon_devices(paths, text); });
  if (std::strlen(tenon_version()) == 0) FuzzFailure("no version");
}

void Explain(Objects& o) {
  const tenon_model* const model = o.models.Live(o.bytes);
  const tenon_session_options options = DrawSessionOptions(o);
  const char* const names[] = {"y", "m", "*", "none", "", nullptr};
  const char* const nodes[] = {o.Pick(names), o.Pick(names)};
  const int num_nodes = static_cast<int>(o.bytes.Below(4)) - 1;
  GetText([&](tenon_text** text) {
    return tenon_model_explain(model, &options, num_nodes > 2 ? nullptr : nodes, num_nodes, text);
  });
}

void Explore(Objects& o) {
  const Exploring e(o);
  GetText([&](tenon_text** text) {
    return tenon_model_explore(e.model, &e.options, e.inputs, e.num_inputs, e.seconds, text);
  });
}

void ExplorePage(Objects& o) {
  const Exploring e(o);
  const tenon_model* const second = o.models.Live(o.bytes);
  const tenon_session_options second_options = DrawSessionOptions(o);
  GetText([&](tenon_text** text) {
    return tenon_model_explore_page(e.model, &e.options, e.inputs, e.num_inputs, e.seconds, second,
                                    &second_options, text);
  });
}

}  // namespace tenon::c_api_fuzz
