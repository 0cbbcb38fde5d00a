#include "tf_plugin/process.h"

#include <algorithm>

#include "env/cpu.h"
#include "runtime/thread_count.h"

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

// Between our ops TensorFlow's own run, and our threads sleep: waking one takes tens of
// microseconds.
constexpr SmallCalls kSmallCalls = {
    .bytes = size_t{256} << 10, .flops = 2e6, .contraction_bytes = size_t{2} << 20};

}  // namespace

Process::Process(const Flags& flags)
    : flags_(flags),
      primitives_({flags.primitive_cache, flags.cache_entries, flags.cache_bytes}),
      services_(MakeServices(flags_, primitives_)),
      constants_(flags.cache_bytes),
      calls_(flags_, services_, kSmallCalls) {}

int Process::Threads(int asked) const {
  return std::min(ThreadCount(asked, flags_), AvailableCpus());
}

}  // namespace tenon::plugin
