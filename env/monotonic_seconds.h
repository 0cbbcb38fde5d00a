// The monotonic clock in seconds.
#ifndef TENON_ENV_MONOTONIC_SECONDS_H_
#define TENON_ENV_MONOTONIC_SECONDS_H_

#include <time.h>

namespace tenon {

inline double MonotonicSeconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace tenon

#endif  // TENON_ENV_MONOTONIC_SECONDS_H_
