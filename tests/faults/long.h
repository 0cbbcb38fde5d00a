// How the tests run: in their long form, and with oneDNN's own cache or not.
#ifndef TENON_TESTS_FAULTS_LONG_H_
#define TENON_TESTS_FAULTS_LONG_H_

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace tenon::faults {

// TENON_FAULTS_LONG=1, as `tools/nightly.sh faults` sets it.
inline bool Long() { return std::getenv("TENON_FAULTS_LONG") != nullptr; }

// TENON_FAULTS_FROM=N: sweeps begin with the N-th allocation, to look at one that failed before.
inline int64_t From() {
  const char* const n = std::getenv("TENON_FAULTS_FROM");
  return n == nullptr ? 1 : std::max<int64_t>(1, std::atoll(n));
}

// A limit of this process that it never reaches, so that Tenon knows that memory may be refused,
// and turns oneDNN's own cache off (docs/FAULTS.md). Before the first primitive is made.
// TENON_FAULTS_LIBRARY_CACHE=1: not, to see what the cache does.
inline bool SetMayBeRefused() {
  if (std::getenv("TENON_FAULTS_LIBRARY_CACHE") != nullptr) return true;
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0) return false;
  if (limit.rlim_cur == RLIM_INFINITY) limit.rlim_cur = rlim_t{1} << 46;
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

}  // namespace tenon::faults

#endif  // TENON_TESTS_FAULTS_LONG_H_
