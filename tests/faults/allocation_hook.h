// malloc, mmap and their kin, replaced in the whole test program, so that tests can let the n-th
// allocation fail and count the blocks that nobody freed.
#ifndef TENON_TESTS_FAULTS_ALLOCATION_HOOK_H_
#define TENON_TESTS_FAULTS_ALLOCATION_HOOK_H_

#include <cstdint>

namespace tenon::faults {

enum class Failing {
  kOne,   // only the n-th allocation fails
  kRest,  // the n-th and all that follow
};

// During its lifetime the n-th allocation (from 1) of any thread fails. Allocations by libgomp and
// the dynamic loader succeed and do not count: without memory they end the process, and no program
// can change that.
class AllocationFault {
 public:
  AllocationFault(int64_t n, Failing failing);
  ~AllocationFault() { End(); }
  AllocationFault(const AllocationFault&) = delete;
  AllocationFault& operator=(const AllocationFault&) = delete;

  // From here on allocations succeed. Returns how many were counted.
  int64_t End();
};

// malloc's blocks that are not freed.
int64_t LiveBlocks();

// Whether an allocation of oneDNN or leveldb, or of what they called, failed during the last
// AllocationFault.
bool RefusedLeaky();

}  // namespace tenon::faults

#endif  // TENON_TESTS_FAULTS_ALLOCATION_HOOK_H_
