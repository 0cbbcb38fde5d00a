// The configuration of the session or eager context that a kernel runs in.
#ifndef TENON_TF_PLUGIN_STEP_CONFIG_H_
#define TENON_TF_PLUGIN_STEP_CONFIG_H_

#include <atomic>
#include <optional>

#include "proto/process/process_config.h"
#include "tensorflow/c/kernels.h"
#include "tf_plugin/process.h"

namespace tenon::plugin {

// The same for all steps of one kernel object, and takes some microseconds to read: keep it. None
// if TensorFlow is evaluating constants while it optimizes a graph.
std::optional<ProcessConfig> ConfigOfStep(TF_OpKernelContext* context);

// The number of threads that a kernel object may use, as its session or eager context was
// configured.
class StepThreads {
 public:
  int Of(TF_OpKernelContext* context, const Process& process);

 private:
  std::atomic<int> known_ = 0;  // 0: not determined yet
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_STEP_CONFIG_H_
