#include "env/openmp.h"

#include <cstdlib>

namespace tenon {

bool SetShortSpin() {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) {
    return false;
  }
  // Some 0.1 ms: longer than the pauses between the steps of a run.
  return setenv("GOMP_SPINCOUNT", "10000", 0) == 0;
}

}  // namespace tenon
