// Whether the tests run in their long form.
#ifndef TENON_TESTS_FAULTS_LONG_H_
#define TENON_TESTS_FAULTS_LONG_H_

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

}  // namespace tenon::faults

#endif  // TENON_TESTS_FAULTS_LONG_H_
