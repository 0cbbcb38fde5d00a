// Several tensors and one that holds them side by side along an axis: Concat and Pack write the
// joined one, Split and Unpack read it.
#ifndef TENON_KERNELS_LAYOUT_JOIN_H_
#define TENON_KERNELS_LAYOUT_JOIN_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// For each of `outer` rows, part i has chunks[i] contiguous elements.
struct Join {
  DType dtype = DType::kInvalid;
  int64_t outer = 1;
  std::vector<int64_t> chunks;
};

// Inputs first_input ... to output 0.
absl::StatusOr<std::unique_ptr<Kernel>> JoinKernel(Join join, int first_input);
// Input `input` to the outputs.
absl::StatusOr<std::unique_ptr<Kernel>> SplitKernel(Join join, int input);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_JOIN_H_
