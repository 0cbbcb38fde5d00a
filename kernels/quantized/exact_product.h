// Exact sums of products of 8-bit integers, for CPUs without instructions for them: float products
// of at most 513 terms, whose sums stay below 2^24, so that nothing is rounded.
#ifndef TENON_KERNELS_QUANTIZED_EXACT_PRODUCT_H_
#define TENON_KERNELS_QUANTIZED_EXACT_PRODUCT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/primitive.h"

namespace tenon {

class ExactProduct {
 public:
  // sums[rows, columns] = left[rows, terms] . right[terms, columns]. Unimplemented if oneDNN has no
  // compiled product, or something is empty.
  static absl::StatusOr<ExactProduct> Make(int64_t rows, int64_t terms, int64_t columns,
                                           const Services& services);

  size_t scratch_bytes() const;
  // `fill` writes rows [begin, end) of the left side; the right side is passed. Both are floats
  // with the values of 8-bit integers, which may be unsigned on one side.
  absl::Status Run(absl::FunctionRef<void(int64_t begin, int64_t end, float* left)> fill,
                   const float* right, int32_t* sums, void* scratch) const;

 private:
  ExactProduct() = default;

  int64_t rows_ = 0, terms_ = 0, columns_ = 0;
  int threads_ = 1;
  size_t primitive_scratch_ = 0;
  // By rows of a tile and terms of a block.
  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<const Primitive>> products_;
};

// Converts n integers of an 8-bit dtype to floats.
void ToFloats(DType dtype, const void* integers, int64_t n, float* floats);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_EXACT_PRODUCT_H_
