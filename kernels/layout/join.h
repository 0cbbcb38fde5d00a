// Copies between several tensors and one tensor that has them side by side along an axis: Concat
// and Pack write the joined tensor, Split and Unpack read it.
#ifndef TENON_KERNELS_LAYOUT_JOIN_H_
#define TENON_KERNELS_LAYOUT_JOIN_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// In each of `outer` rows, part i has chunks[i] contiguous elements.
struct Join {
  DType dtype = DType::kInvalid;
  int64_t outer = 1;
  std::vector<int64_t> chunks;
};

// Joins inputs first_input ... into output 0.
absl::StatusOr<std::unique_ptr<Kernel>> JoinKernel(Join join, int first_input, int threads,
                                                   const char* implementation = "reference");
// Splits input `input` into the outputs.
absl::StatusOr<std::unique_ptr<Kernel>> SplitKernel(Join join, int input, int threads);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_JOIN_H_
