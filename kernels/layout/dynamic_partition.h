// Distributes slices to several tensors by number, and merges them again. Any dtype.
#ifndef TENON_KERNELS_LAYOUT_DYNAMIC_PARTITION_H_
#define TENON_KERNELS_LAYOUT_DYNAMIC_PARTITION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Slices of input 0 to the outputs given by input 1 (int32). InvalidArgument for a number without
// an output.
absl::StatusOr<std::unique_ptr<Kernel>> DynamicPartitionKernel(PrepareContext& p);

// N tensors of row numbers (int32), then N tensors of rows: each row goes to its number, and the
// last one wins; missing rows are 0. InvalidArgument for negative numbers.
absl::StatusOr<std::unique_ptr<Kernel>> DynamicStitchKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_DYNAMIC_PARTITION_H_
