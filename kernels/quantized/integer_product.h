// The accelerated kernel of quantized contractions with own vector code: exact on every CPU.
#ifndef TENON_KERNELS_QUANTIZED_INTEGER_PRODUCT_H_
#define TENON_KERNELS_QUANTIZED_INTEGER_PRODUCT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/contraction/narrow_panels.h"
#include "kernels/contraction/narrow_product_simd.h"
#include "kernels/quantized/quantized_fusion.h"

namespace tenon {

// Integers of 8 bits as the loops read them: `flip` makes signed ones unsigned, and `zero`, which
// is unsigned, stands for 0.
struct LeftNumbers {
  uint8_t flip = 0;
  uint8_t zero = 0;
};

// The rows of the left side, if they are not adjacent in memory.
class IntegerRows {
 public:
  virtual ~IntegerRows() = default;
  // Writes the terms of [row, row + rows) of a group, widened, `to_row` bytes apart.
  virtual void Copy(const NarrowLoops& loops, const uint8_t* data, size_t group, size_t row,
                    size_t rows, LeftNumbers numbers, char* to, size_t to_row) const = 0;
};

struct IntegerProduct {
  QuantizedFusion fusion;
  NarrowMatrix matrix;  // the right side; its packed form is filled in
  size_t rows = 0;
  std::unique_ptr<const IntegerRows> source;  // null: row r begins at r * terms, in one group
  double flops = 0;
  bool min_first = false;            // as in FusionValues
  std::vector<int32_t> weight_sums;  // likewise; for float biases
};

// Unimplemented for weights that are not a qint8 constant, empty tensors, and what VectorEpilogue
// cannot apply.
absl::StatusOr<std::unique_ptr<Kernel>> PrepareIntegerProduct(PrepareContext& p,
                                                              IntegerProduct product);

// The form of integers whose loops are the fastest here, and the name of kernels that use them.
NarrowForm IntegerForm();
std::string IntegersImplementation(NarrowForm form);

// How the loops read input 0. Unimplemented if no 8-bit integer is its zero point.
absl::StatusOr<LeftNumbers> LeftNumbersOf(const PrepareContext& p, const QuantizedFusion& fusion);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_INTEGER_PRODUCT_H_
