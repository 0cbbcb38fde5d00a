// XLA's scatter: to which elements of the operand its updates go.
#ifndef TENON_KERNELS_XLA_SCATTER_TARGETS_H_
#define TENON_KERNELS_XLA_SCATTER_TARGETS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kernels/xla/slice_places.h"

namespace tenon {

class ScatterTargets {
 public:
  // For complete shapes that CheckNumbers accepts.
  ScatterTargets(const GatherNumbers& numbers, const Shape& operand, const Shape& indices,
                 DType index_dtype, const Shape& updates);

  // How many elements of the updates follow each other in the operand too: a run.
  int64_t run() const { return run_; }

  // Calls visit(first, offsets) for blocks of runs, in order: the elements of run first + k of the
  // updates go to offsets[k] of the operand and those after it; -1: nowhere, because their slice
  // does not lie within the operand.
  void ForEachRun(
      const void* indices,
      absl::FunctionRef<void(int64_t first, absl::Span<const int64_t> offsets)> visit) const;

 private:
  // A dimension of the updates: its step within the operand, or in the list of slices.
  struct Axis {
    int64_t size, in_operand = 0, in_slices = 0;
  };

  static DimList SliceSizes(const GatherNumbers& numbers, const Shape& operand,
                            const Shape& updates);

  SlicePlaces places_;
  std::vector<Axis> axes_;  // without those of a run
  int64_t run_ = 1, count_ = 1;
};

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_SCATTER_TARGETS_H_
