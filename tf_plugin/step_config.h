// What the session, or eager context, that a kernel runs in was asked for.
#ifndef TENON_TF_PLUGIN_STEP_CONFIG_H_
#define TENON_TF_PLUGIN_STEP_CONFIG_H_

#include <optional>

#include "proto/process/process_config.h"
#include "tensorflow/c/kernels.h"

namespace tenon::plugin {

// The same for all steps of one kernel object, and some microseconds to read: keep it. None where
// TensorFlow evaluates constants, while it optimizes a graph.
std::optional<ProcessConfig> ConfigOfStep(TF_OpKernelContext* context);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_STEP_CONFIG_H_
