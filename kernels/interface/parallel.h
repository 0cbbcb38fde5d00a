// Splits a kernel's loop over the one thread pool (OpenMP's, which libdnnl uses too).
//
//   ParallelFor(threads, rows, /*grain=*/64, [&](int64_t begin, int64_t end) { ... });
//
// The ranges are a function of (threads, n, grain) alone, so the same threads give the same bits.
// There are at most `threads` of them, each of at least `grain` iterations (choose it with
// ParallelGrain: less work does not pay for a barrier). Called inside a parallel region the ranges
// run one after another. `fn` must not throw.
#ifndef TENON_KERNELS_INTERFACE_PARALLEL_H_
#define TENON_KERNELS_INTERFACE_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace tenon {

// Iterations that stand for about 8 us of work, at least 1; `ns` is the cost of one iteration.
int64_t ParallelGrain(double ns);

// How many ranges a loop is split into: at least 1.
int ParallelRanges(int threads, int64_t n, int64_t grain);

void ParallelFor(int threads, int64_t n, int64_t grain,
                 absl::FunctionRef<void(int64_t begin, int64_t end)> fn);

// As above; `range` (0 <= range < ParallelRanges(threads, n, grain)) picks private scratch.
void ParallelForRanges(int threads, int64_t n, int64_t grain,
                       absl::FunctionRef<void(int range, int64_t begin, int64_t end)> fn);

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_PARALLEL_H_
