// The part that is the same for all versions of oneDNN.
#include <sys/resource.h>

#include <fstream>

#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {
namespace {

// Whether the system may refuse memory: the process has a limit, or no more is granted than there
// is. Otherwise the kernel grants what it does not have.
bool MemoryMayBeRefused() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit = {};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return true;
  }
  int overcommit = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> overcommit;
  return overcommit == 2;
}

}  // namespace

const dnnl::engine& CpuEngine() {
  static const dnnl::engine* const engine = [] {
    // oneDNN has its own cache of primitives, which the session's cache does not count. A small one
    // is worthwhile, because sessions of one process share primitives and reorders in it. None
    // where memory may be refused: that leaves entries which later end or stop the process
    // (docs/FAULTS.md). Leave it alone if the user set a size (ONEDNN_PRIMITIVE_CACHE_CAPACITY).
    if (dnnl::get_primitive_cache_capacity() == 1024) {
      dnnl::set_primitive_cache_capacity(MemoryMayBeRefused() ? 0 : 256);
    }
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *engine;
}

int MajorVersion() { return dnnl_version()->major; }

bool Allows(dnnl::cpu_isa isa) {
  // Each instruction set is a bit set that contains the lower ones.
  const auto have = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto want = static_cast<unsigned>(isa);
  return (have & want) == want;
}

}  // namespace tenon::onednn
