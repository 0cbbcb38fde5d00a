// State that the plug-in's parts share for the life of the process.
#ifndef TENON_TF_PLUGIN_PROCESS_H_
#define TENON_TF_PLUGIN_PROCESS_H_

#include "absl/status/statusor.h"
#include "env/flags.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/cache.h"
#include "runtime/eager/call_cache.h"
#include "tf_plugin/held_constants.h"

namespace tenon::plugin {

class Process {
 public:
  // Created by the first call, from the environment at that time, and never destroyed, because
  // threads may call while the process exits. An error means that a variable has an invalid value.
  static absl::StatusOr<Process*> Get();

  const Flags& flags() const { return flags_; }
  // For values computed while a graph is optimized: one thread, because no session gives a number.
  const Services& services() const { return services_; }
  // How many threads an op may use if the session asks for `asked` (0: it does not, and the
  // environment decides). More threads than CPUs would only wait for each other.
  int Threads(int asked) const;
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
