#include "env/openmp.h"

#include <cstdlib>

namespace tenon {
namespace {

constexpr char kSpinCount[] = "GOMP_SPINCOUNT";
constexpr char kWaitPolicy[] = "OMP_WAIT_POLICY";

}  // namespace

bool SetShortSpin(bool many_teams) {
  if (std::getenv(kSpinCount) != nullptr || std::getenv(kWaitPolicy) != nullptr) {
    return false;
  }
  // About 0.1 ms: longer than the pauses between the steps of a run.
  if (setenv(kSpinCount, "10000", 0) != 0) return false;
  // If the helpers outnumber the CPUs, libgomp lets them spin no more than 100 times, or 1000 times
  // with this policy, which is still longer than most pauses.
  if (many_teams) setenv(kWaitPolicy, "active", 0);
  return true;
}

void UnsetSpin() {
  unsetenv(kSpinCount);
  unsetenv(kWaitPolicy);
}

}  // namespace tenon
