// Slices dealt out to several tensors by number, and put together again. Any dtype.
#ifndef TENON_KERNELS_LAYOUT_DYNAMIC_PARTITION_H_
#define TENON_KERNELS_LAYOUT_DYNAMIC_PARTITION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Slices of input 0 to the outputs that input 1 (int32) numbers. InvalidArgument for a number
// without output.
absl::StatusOr<std::unique_ptr<Kernel>> DynamicPartitionKernel(PrepareContext& p);

// N tensors of row numbers (int32), then N of rows: each row goes to its number, the last one
// counts; others are 0. InvalidArgument for negative numbers.
absl::StatusOr<std::unique_ptr<Kernel>> DynamicStitchKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_DYNAMIC_PARTITION_H_
