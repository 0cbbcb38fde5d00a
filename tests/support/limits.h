// Memory bounds for tests of absurd sizes, which have to be refused where there is no such memory.
#ifndef TENON_TESTS_SUPPORT_LIMITS_H_
#define TENON_TESTS_SUPPORT_LIMITS_H_

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace tenon {

// While this lives, the process gets no more than about a GiB in addition to what it has.
// (AddressSanitizer, which reserves terabytes, has an option of its own.)
class MemoryLimit {
 public:
  MemoryLimit() {
#ifndef __SANITIZE_ADDRESS__
    getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 30);
    setrlimit(RLIMIT_AS, &limit);
#endif
  }
  ~MemoryLimit() {
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &before_);
#endif
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  [[maybe_unused]] rlimit before_ = {};
};

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_LIMITS_H_
