// Memory limits for tests of absurd sizes, which must be refused for lack of memory.
#ifndef TENON_TESTS_SUPPORT_LIMITS_H_
#define TENON_TESTS_SUPPORT_LIMITS_H_

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace tenon {

// During its lifetime, the process can allocate at most about one more GiB. (AddressSanitizer,
// which reserves terabytes, has its own option.)
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
