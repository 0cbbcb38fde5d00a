// read, pread and write, replaced in the whole test program, so that they can be interrupted by
// signals and move fewer bytes than asked.
#ifndef TENON_TESTS_FAULTS_FILE_HOOK_H_
#define TENON_TESTS_FAULTS_FILE_HOOK_H_

#include <cstdint>

namespace tenon::faults {

// During its lifetime every third call, beginning with the first, is interrupted (EINTR), and the
// others move at most 100 bytes.
class ShortTransfers {
 public:
  ShortTransfers();
  ~ShortTransfers();
  ShortTransfers(const ShortTransfers&) = delete;
  ShortTransfers& operator=(const ShortTransfers&) = delete;

  // Calls so far that were interrupted or cut short.
  int64_t count() const;
};

}  // namespace tenon::faults

#endif  // TENON_TESTS_FAULTS_FILE_HOOK_H_
