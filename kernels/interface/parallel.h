// Splits a kernel's loop over the one thread pool (OpenMP's, which oneDNN uses too).
//
//   ParallelFor(threads, rows, /*grain=*/64, [&](int64_t begin, int64_t end) { ... });
//
// The ranges depend only on (threads, n, grain), so the same number of threads gives the same bits.
// There are at most `threads` ranges, each of at least `grain` iterations (choose it with
// ParallelGrain: less work is not worth a barrier). Inside a parallel region, the ranges run
// sequentially. `fn` must not throw.
#ifndef TENON_KERNELS_INTERFACE_PARALLEL_H_
#define TENON_KERNELS_INTERFACE_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace tenon {

// The number of iterations that take about 3 us, at least 1; `ns` is the cost of one iteration.
int64_t ParallelGrain(double ns);

// What one thread is assumed to read of memory, for such costs.
inline constexpr double kBytesPerNs = 8;

// The number of ranges that a loop is split into: at least 1.
int ParallelRanges(int threads, int64_t n, int64_t grain);

void ParallelFor(int threads, int64_t n, int64_t grain,
                 absl::FunctionRef<void(int64_t begin, int64_t end)> fn);

// The same; `range` (0 <= range < ParallelRanges(threads, n, grain)) selects private scratch.
void ParallelForRanges(int threads, int64_t n, int64_t grain,
                       absl::FunctionRef<void(int range, int64_t begin, int64_t end)> fn);

// Calls fn for each of `tasks` tasks. Each thread begins with a range of them and then helps the
// others, so that one that the machine slows down gets fewer. `thread` (0 <= thread < threads)
// selects private scratch; results must not depend on it. What tasks allocate counts in the
// caller's memory scope. For tasks of some 20 us or more.
void ParallelTasks(int threads, int64_t tasks,
                   absl::FunctionRef<void(int thread, int64_t task)> fn);

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_PARALLEL_H_
