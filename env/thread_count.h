// Decides how many threads one op may use.
#ifndef TENON_ENV_THREAD_COUNT_H_
#define TENON_ENV_THREAD_COUNT_H_

#include <algorithm>
#include <cstdint>

#include "env/cpu.h"
#include "env/flags.h"

namespace tenon {

// `asked` if positive; otherwise TF_NUM_INTRAOP_THREADS, OMP_NUM_THREADS, or the number of
// available CPUs.
inline int ThreadCount(int asked, const Flags& flags) {
  constexpr int64_t kMost = 1024;
  if (asked > 0) return asked;
  if (flags.intra_op_threads > 0) return static_cast<int>(std::min(flags.intra_op_threads, kMost));
  if (flags.omp_threads > 0) return static_cast<int>(std::min(flags.omp_threads, kMost));
  return AvailableCpus();
}

}  // namespace tenon

#endif  // TENON_ENV_THREAD_COUNT_H_
