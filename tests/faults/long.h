// Whether the tests run in their long form.
#ifndef TENON_TESTS_FAULTS_LONG_H_
#define TENON_TESTS_FAULTS_LONG_H_

#include <cstdlib>

namespace tenon::faults {

// TENON_FAULTS_LONG=1, as `tools/nightly.sh faults` sets it.
inline bool Long() { return std::getenv("TENON_FAULTS_LONG") != nullptr; }

}  // namespace tenon::faults

#endif  // TENON_TESTS_FAULTS_LONG_H_
