#include "env/openmp.h"

#include <cstdlib>

namespace tenon {
namespace {

constexpr char kSpinCount[] = "GOMP_SPINCOUNT";
constexpr char kWaitPolicy[] = "OMP_WAIT_POLICY";

}  // namespace

bool SetShortSpin() {
  if (std::getenv(kSpinCount) != nullptr || std::getenv(kWaitPolicy) != nullptr) {
    return false;
  }
  // Some 0.1 ms: longer than the pauses between the steps of a run.
  if (setenv(kSpinCount, "10000", 0) != 0) return false;
  // Each thread that used OpenMP has helpers of its own. Where all of them are more than the CPUs,
  // libgomp lets them look for work no more than 100 times, and with this policy 1000 times: still
  // longer than most pauses.
  setenv(kWaitPolicy, "active", 0);
  return true;
}

void UnsetSpin() {
  unsetenv(kSpinCount);
  unsetenv(kWaitPolicy);
}

}  // namespace tenon
