#include "tf_plugin/process.h"

#include <algorithm>

#include "env/cpu.h"
#include "env/thread_count.h"

namespace tenon::plugin {

absl::StatusOr<Process*> Process::Get() {
  static const auto* const process = [] {
    const absl::StatusOr<Flags> flags = Flags::FromEnvironment();
    return new absl::StatusOr<Process*>(flags.ok() ? absl::StatusOr<Process*>(new Process(*flags))
                                                   : flags.status());
  }();
  return *process;
}

namespace {

Services MakeServices(const Flags& flags, PrimitiveCache& primitives) {
  Services services;
  services.flags = &flags;
  services.cache = &primitives;
  services.threads = 1;
  return services;
}

}  // namespace

Process::Process(const Flags& flags)
    : flags_(flags),
      primitives_(PrimitiveCache::LimitsOf(flags)),
      services_(MakeServices(flags_, primitives_)),
      constants_(flags.cache_bytes),
      calls_(flags_, services_) {}

int Process::Threads(int asked) const {
  return std::min(ThreadCount(asked, flags_), AvailableCpus());
}

}  // namespace tenon::plugin
