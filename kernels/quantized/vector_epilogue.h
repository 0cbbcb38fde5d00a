// A QuantizedFusion as vector code applies it to sums, part by part.
#ifndef TENON_KERNELS_QUANTIZED_VECTOR_EPILOGUE_H_
#define TENON_KERNELS_QUANTIZED_VECTOR_EPILOGUE_H_

#include <memory>
#include <vector>

#include "kernels/contraction/narrow_product_simd.h"
#include "kernels/quantized/by_ranges.h"
#include "kernels/quantized/integer_tail_simd.h"
#include "kernels/quantized/quantized_fusion.h"

namespace tenon {

class VectorEpilogue {
 public:
  // What follows from a set of ranges.
  struct Values {
    Epilogue epilogue;  // with a scale and a bias for each channel
    std::vector<FloatRange> result_ranges;
    IntegerTail tail;
  };

  // Unimplemented for int32 results, float summands, and biases that are not constant.
  static absl::Status CanApply(const PrepareContext& p, const QuantizedFusion& fusion);
  // Allows the result to overwrite a summand of its size that is not also the data. `min_first` and
  // `weight_sums` as in FusionValues.
  VectorEpilogue(PrepareContext& p, const QuantizedFusion& fusion, bool min_first,
                 std::vector<int32_t> weight_sums);
  // Makes the values now if all ranges are constant.
  absl::Status Prepare(PrepareContext& p);

  // To be called first in each run: the values for Apply, and the ranges of the result.
  std::shared_ptr<const Values> Begin(RunContext& r) const;
  // Sums of a part of the result, whose columns are its channels.
  void Apply(RunContext& r, const Values& values, const NarrowSums& part) const;

 private:
  // `get(input)`: its elements.
  template <typename Get>
  Values Make(const Get& get) const;

  const QuantizedFusion fusion_;
  const QuantizedInputs in_;
  const std::vector<int32_t> weight_sums_;
  FusionValues values_;
  IntegerTailFn fn_ = nullptr;
  size_t channels_ = 0, summand_bytes_ = 0, result_bytes_ = 0;  // bytes of an element
  std::shared_ptr<const Values> constant_;                      // if all ranges are
  const ByRanges<Values> by_ranges_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_VECTOR_EPILOGUE_H_
