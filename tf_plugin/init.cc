// The functions that the entry library (entry.cc) calls in this one, with TensorFlow's arguments.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "env/mutex.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tf_plugin/c_api.h"
#include "tf_plugin/graph_pass.h"
#include "tf_plugin/other_plugins.h"
#include "tf_plugin/process.h"
#include "tf_plugin/register.h"

namespace tenon::plugin {
namespace {

// Writes to TensorFlow's log stream, because there is no caller to return an error to.
void Complain(const std::string& what) { std::fprintf(stderr, "tenon: %s\n", what.c_str()); }
// Reports why the plug-in is disabled.
void StayOut(const absl::Status& status) {
  Complain(absl::StrCat("TensorFlow runs without it: ", status.message()));
}

// Whether the user wants the plug-in, and the environment is valid.
bool Wanted() {
  static const bool wanted = [] {
    const absl::StatusOr<Process*> process = Process::Get();
    if (!process.ok()) StayOut(process.status());
    return process.ok() && (*process)->flags().onednn_opts;
  }();
  return wanted;
}

// Whether ops and kernels are registered; otherwise no graph may be rewritten.
bool& Registered() {
  static bool registered = false;
  return registered;
}

// Tells TensorFlow which graphs to pass to us, and how: those for the CPU, or none. TensorFlow asks
// each time it loads the plug-in: also when its Python package is reloaded, or when it finds the
// plug-in in a second place.
void TakeGraphs(TP_OptimizerRegistrationParams& params) {
  static bool asked = false;
  params.device_type = NoDevice();
  if (!Registered() || asked) return;
  asked = true;  // set before the next line, which asks every plug-in
  const std::vector<OtherPlugin> others = OtherPlugins();
  for (const OtherPlugin& other : others) {
    if (other.device_type != "CPU") continue;
    return Complain(absl::StrCat(other.file, " optimizes the graphs for the CPU, and TensorFlow ",
                                 "takes one such plug-in: graphs are not rewritten, eager ops run ",
                                 "Tenon's kernels"));
  }
  params.device_type = "CPU";
  if (!others.empty()) {
    *params.optimizer_configs = others[0].configs;
  } else {
    // If TensorFlow fused first, our rules would not recognize anything.
    params.optimizer_configs->remapping = TF_TriState_Off;
  }
}

void HandOver(const void* data, size_t size, TF_Buffer* out) {
  void* copy = std::malloc(size);
  std::memcpy(copy, data, size);
  out->data = copy;
  out->length = size;
  out->data_deallocator = [](void* memory, size_t) { std::free(memory); };
}

// Reports that a graph is not rewritten, because of `why`. Reports each reason once, and only a
// few: there may be thousands of functions, and TensorFlow asks twice for each.
void SayNotRewritten(const absl::Status& why) {
  constexpr size_t kMost = 8;
  static Mutex mutex;
  static auto* const said = new std::set<std::string>;
  const std::string reason(why.message());
  MutexLock lock(&mutex);
  if (said->size() < kMost && said->insert(reason).second) {
    Complain(absl::StrCat("a graph is not rewritten, TensorFlow runs it as it is: ", reason));
  }
}

absl::StatusOr<std::string> RewriteOrSayWhy(const TF_Buffer& graph, const TF_GrapplerItem* item) {
  try {
    return RewriteGraphDef(graph, item);
  } catch (
      const std::exception& e) {  // such as out of memory: nothing may propagate through TensorFlow
    return absl::InternalError(e.what());
  }
}

void Optimize(void*, const TF_Buffer* graph, const TF_GrapplerItem* item, TF_Buffer* optimized,
              TF_Status* status) {
  TF_SetStatus(status, TF_OK, "");
  const absl::StatusOr<std::string> rewritten = RewriteOrSayWhy(*graph, item);
  if (rewritten.ok() && !rewritten->empty()) {
    return HandOver(rewritten->data(), rewritten->size(), optimized);
  }
  if (!rewritten.ok()) SayNotRewritten(rewritten.status());
  HandOver(graph->data, graph->length, optimized);
}

}  // namespace
}  // namespace tenon::plugin

extern "C" {

__attribute__((visibility("default"))) void TenonInitKernel() {
  using namespace tenon::plugin;
  if (Registered() || !Wanted()) return;
  const absl::StatusOr<TensorFlowOps>& known = OpsOfTensorFlow();
  absl::Status status = known.ok() ? RegisterPrivateOps(*known) : known.status();
  if (status.ok()) {
    Registered() = true;
    status = RegisterEagerKernels(*known);
  }
  if (!status.ok()) StayOut(status);
}

__attribute__((visibility("default"))) void TenonInitGraph(TP_OptimizerRegistrationParams* params,
                                                           TF_Status* status) {
  using namespace tenon::plugin;
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = Optimize;
  TakeGraphs(*params);
  TF_SetStatus(status, TF_OK, "");
}

}  // extern "C"
