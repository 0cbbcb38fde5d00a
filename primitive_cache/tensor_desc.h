// Plain descriptions of memory and of post-ops, without oneDNN's types; the problem structs of this
// folder consist of them. They can be hashed and compared, so that problems can be keys.
#ifndef TENON_PRIMITIVE_CACHE_TENSOR_DESC_H_
#define TENON_PRIMITIVE_CACHE_TENSOR_DESC_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace tenon {

enum class ElementType { kF32, kBf16, kS32, kS8, kU8 };

inline size_t SizeOf(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kS32:
      return 4;
    case ElementType::kBf16:
      return 2;
    case ElementType::kS8:
    case ElementType::kU8:
      return 1;
  }
  return 0;
}

using Dims = absl::InlinedVector<int64_t, 6>;

inline bool All(const Dims& dims, int64_t value) {
  return std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return d == value; });
}

// Logical dimensions in oneDNN's order (N, C, spatial; or batch, M, K) and their strides.
struct TensorDesc {
  ElementType type = ElementType::kF32;
  Dims dims;
  Dims strides;  // in elements, one per dimension

  int64_t num_elements() const {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }
  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const TensorDesc& d) {
    return H::combine(std::move(h), d.type, d.dims, d.strides);
  }
};

// Row-major strides of `dims`.
inline Dims DenseStrides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * (dims[i] > 0 ? dims[i] : 1);
  }
  return strides;
}
inline TensorDesc DenseDesc(ElementType type, Dims dims) {
  Dims strides = DenseStrides(dims);
  return {type, std::move(dims), std::move(strides)};
}

enum class Eltwise {
  kRelu,  // x > 0 ? x : alpha * x
  kClip,  // min(max(x, alpha), beta)
  kElu,   // x > 0 ? x : alpha * (exp(x) - 1)
  kTanh,
  kLogistic,
  kGeluErf,
  kGeluTanh,
  kSwish,  // x * logistic(alpha * x)
  kHardSwish,
  kMish,
  kExp,
  kSqrt,
  kSquare,
  kAbs,
};

// Whether the oneDNN in use turns infinity, whose function is infinity, into NaN.
bool LosesInfinity(Eltwise function);

struct PostOpSpec {
  enum class Kind {
    kEltwise,    // dst = scale * f(dst)
    kSum,        // dst += scale * previous dst (of operand's type if that is set)
    kBinaryAdd,  // dst += operand
    kBinaryMul,  // dst *= operand
  };
  Kind kind = Kind::kEltwise;
  Eltwise eltwise = Eltwise::kRelu;
  float alpha = 0;
  float beta = 0;
  float scale = 1;
  TensorDesc operand;  // binary: dims of 1 are broadcast

  bool binary() const { return kind == Kind::kBinaryAdd || kind == Kind::kBinaryMul; }
  friend bool operator==(const PostOpSpec&, const PostOpSpec&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const PostOpSpec& p) {
    return H::combine(std::move(h), p.kind, p.eltwise, p.alpha, p.beta, p.scale, p.operand);
  }
};

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_TENSOR_DESC_H_
