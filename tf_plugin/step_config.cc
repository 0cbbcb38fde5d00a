#include "tf_plugin/step_config.h"

#include "tf_plugin/c_api.h"

namespace tenon::plugin {
namespace {

// Whether the step is a real run. TF_GetSerializedConfigProto uses the context's function library
// without checking that there is one. There is none where constants are evaluated, which the step
// id reveals: 0 (grappler) or a small negative number (shape inference, and constant folding before
// a run). Sessions count their steps from 1; a function call or an eager op draws a negative number
// of 63 bits.
bool IsRun(int64_t step) {
  constexpr int64_t kLeastOfSpecialSteps = -65536;
  return step > 0 || step < kLeastOfSpecialSteps;
}

}  // namespace

std::optional<ProcessConfig> ConfigOfStep(TF_OpKernelContext* context) {
  if (!IsRun(TF_StepId(context))) return std::nullopt;
  const StatusPtr status(TF_NewStatus());
  const BufferPtr bytes(TF_NewBuffer());
  TF_GetSerializedConfigProto(context, bytes.get(), status.get());
  if (TF_GetCode(status.get()) != TF_OK) return ProcessConfig();
  return ParseProcessConfig(Bytes(*bytes)).value_or(ProcessConfig());
}

int StepThreads::Of(TF_OpKernelContext* context, const Process& process) {
  const int known = known_.load(std::memory_order_relaxed);
  if (known > 0) return known;
  const std::optional<ProcessConfig> config = ConfigOfStep(context);
  if (!config.has_value()) return process.services().threads;
  const int threads = process.Threads(config->intra_op_threads);
  known_.store(threads, std::memory_order_relaxed);
  return threads;
}

}  // namespace tenon::plugin
