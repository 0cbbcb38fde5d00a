// Sums of products over labeled dimensions; matrix products and Einsum are of this form:
// out[labels] = sum over the labels not in out of a[labels] * b[labels].
#ifndef TENON_KERNELS_MATMUL_PRODUCT_H_
#define TENON_KERNELS_MATMUL_PRODUCT_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/contraction/product_code.h"
#include "primitive_cache/matmul.h"

namespace tenon {

// One tensor of a product: a label, an extent and a stride (in elements) per dimension.
struct LabeledTensor {
  struct Dim {
    int label = 0;
    int64_t extent = 1;
    int64_t stride = 0;
  };
  absl::InlinedVector<Dim, 6> dims;
  bool conjugate = false;

  const Dim* Find(int label) const {
    for (const Dim& d : dims) {
      if (d.label == label) return &d;
    }
    return nullptr;
  }
  // Whether it stands for a diagonal.
  bool HasRepeatedLabel() const {
    return std::any_of(dims.begin(), dims.end(),
                       [this](const Dim& d) { return Find(d.label) != &d; });
  }
};

// A row-major tensor with these labels. A repeated label means its diagonal.
LabeledTensor RowMajor(const std::vector<int>& labels, const Shape& shape);

// Extents of one label are equal, or 1 in a or b if that one broadcasts.
struct LabeledProduct {
  LabeledTensor a, b, out;
  bool has_b = true;  // false: one operand, its labels not in out summed

  int64_t extent(int label) const;
  double flops() const;
};

// Any dtypes of MatMul, BatchMatMulV3 (a and b may differ from out) and Einsum.
absl::Status RunProductReference(const LabeledProduct& product, DType a_type, DType b_type,
                                 DType out_type, const void* a, const void* b, void* out,
                                 int threads, ProductCode code = ProductCode::kEigen);

// The product as one oneDNN matmul on the operands in place.
struct LoweredProduct {
  MatmulProblem problem;  // no bias, no post-ops
  bool swapped = false;   // b is src and a is weights
  // For each dimension of dst: the output dimensions that it merges, outer to inner.
  std::vector<std::vector<int>> out_axes;
};
// Unimplemented if strides cannot express it.
absl::StatusOr<LoweredProduct> LowerProduct(const LabeledProduct& product, ElementType type);

// A tensor that broadcasts to the output, in dst's dimensions. Unimplemented if strides cannot
// express it.
absl::StatusOr<TensorDesc> LowerOperand(const LoweredProduct& lowered, const Shape& output,
                                        const Shape& operand);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_PRODUCT_H_
