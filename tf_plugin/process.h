// What the plug-in's parts share for the life of the process.
#ifndef TENON_TF_PLUGIN_PROCESS_H_
#define TENON_TF_PLUGIN_PROCESS_H_

#include "absl/status/statusor.h"
#include "env/flags.h"
#include "ops/kernel.h"
#include "primitive_cache/cache.h"
#include "runtime/call_cache.h"
#include "tf_plugin/held_constants.h"

namespace tenon::plugin {

class Process {
 public:
  // Made by the first call from the environment as it is then, and never destroyed: threads may
  // call while the process ends. An error: a variable has a wrong value.
  static absl::StatusOr<Process*> Get();

  const Flags& flags() const { return flags_; }
  // With as many threads as the environment says. (What tf.config.threading says cannot be asked:
  // the C API's function for it crashes where TensorFlow evaluates constants.)
  const Services& services() const { return services_; }
  HeldConstants& constants() { return constants_; }

  CallCache& calls() { return calls_; }

 private:
  explicit Process(const Flags& flags);

  const Flags flags_;
  PrimitiveCache primitives_;
  const Services services_;
  HeldConstants constants_;
  CallCache calls_;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_PROCESS_H_
