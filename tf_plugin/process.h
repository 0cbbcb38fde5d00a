// What the plug-in's parts share for the life of the process.
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
  // Made by the first call from the environment as it is then, and never destroyed: threads may
  // call while the process ends. An error: a variable has a wrong value.
  static absl::StatusOr<Process*> Get();

  const Flags& flags() const { return flags_; }
  // For what is computed while a graph is optimized: one thread, because no session says how many.
  const Services& services() const { return services_; }
  // How many threads an op may use where the session asks for `asked`; 0: it does not, and the
  // environment says. More than there are CPUs would only wait for one another.
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
