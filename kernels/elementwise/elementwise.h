// The elementwise ops that vector kernels compute, and the loops that compute them on float tiles.
// One table: op names (as in TensorFlow, and our own `_...` ones), arity, cost.
#ifndef TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
#define TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tenon {

enum class ElementwiseOp : uint8_t {
  // One operand.
  kCopy,
  kAbs,
  kNeg,
  kSquare,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSign,
  kFloor,
  kCeil,
  kRint,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kErf,
  kErfc,
  kTanh,
  kSigmoid,
  kRelu,
  kRelu6,
  kLeakyRelu,  // parameter: alpha
  kElu,
  kSelu,
  kSoftplus,
  kSoftsign,
  kGeluExact,
  kGeluApproximate,
  kSwish,
  kHardSwish,
  kMish,
  // Two.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kDivNoNan,
  kMaximum,
  kMinimum,
  kSquaredDifference,
  // Two, gradients (ops/math/gradients.op.cc).
  kReluGrad,
  kRelu6Grad,
  kLeakyReluGrad,  // parameter: alpha
  kEluGrad,
  kSeluGrad,
  kSoftplusGrad,
  kSoftsignGrad,
  kTanhGrad,
  kSigmoidGrad,
  kSqrtGrad,
  kRsqrtGrad,
  kReciprocalGrad,
  // Three; only peephole optimization makes them.
  kMulAdd,      // a * b + c
  kMulAddRelu,  // Relu(a * b + c)
  kNumOps
};

struct ElementwiseInfo {
  const char* name;  // op name
  ElementwiseOp op;
  int arity;
  float ns;               // cost of one element on one core, data in the cache; for grains
  const char* parameter;  // attribute that gives the parameter, or null
  float default_parameter;
};

// All names, and one by name (null: not an elementwise op of ours) or by what it computes.
absl::Span<const ElementwiseInfo> ElementwiseTable();
const ElementwiseInfo* FindElementwise(absl::string_view name);
const ElementwiseInfo* FindElementwise(ElementwiseOp op);
double ElementwiseCost(ElementwiseOp op);  // ns, as above

// out[i] = op(a[i], b[i], c[i]); operands that the op does not have are null. `out` may be one of
// the operands. Every element's bits are independent of its position and of n.
using TileFn = void (*)(const float* a, const float* b, const float* c, float* out, size_t n,
                        float parameter);

// Which operand of a binary op is one value (a[0] or b[0]) for the whole tile.
enum class TileForm { kVectors, kScalarA, kScalarB };

// Never null for forms that make sense: binary ops have all three, others only kVectors.
TileFn FindTileFn(ElementwiseOp op, TileForm form = TileForm::kVectors);

// bfloat16 tiles (bits) to float and back, rounding to nearest even; NaN stays NaN.
void WidenBfloat16(const uint16_t* from, float* to, size_t n);
void NarrowToBfloat16(const float* from, uint16_t* to, size_t n);

// The instruction set in use: "AVX3", "AVX2", "SSE4".
const char* VectorTargetName();

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
