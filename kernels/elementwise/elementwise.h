// The elementwise ops that vector kernels and contractions compute, and the loops that compute them
// on float tiles. One table: op names (as in TensorFlow, and our own `_...` ones), cost, and how a
// contraction applies the op to its result. Formulas are in formulas.inc.
#ifndef TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
#define TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "primitive_cache/tensor_desc.h"

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
  kSin,
  kCos,
  kAsin,
  kAcos,
  kAtan,
  kTan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErfinv,
  kNdtri,
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
  kAtan2,
  kPow,
  kXdivy,
  kXlogy,
  kXlog1py,
  // Two, for gradients (ops/math/gradients.op.cc).
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
  // Three; only peephole optimization creates them.
  kMulAdd,      // a * b + c
  kMulAddRelu,  // Relu(a * b + c)
  kNumOps
};

// The number of operands of `op`.
constexpr int Arity(ElementwiseOp op) {
  return op < ElementwiseOp::kAdd ? 1 : op < ElementwiseOp::kMulAdd ? 2 : 3;
}

// Constants in formulas.inc and in oneDNN's parameters.
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;
inline constexpr double kSqrtOfHalf = 0.70710678118654752440;
inline constexpr double kSqrtOf2OverPi = 0.79788456080286535588;
inline constexpr double kGeluCubic = 0.044715;

// How a contraction applies an op to its result before it is stored.
struct PostOpForm {
  // TensorFlow's name in `fused_ops`, if that is not the op's name.
  const char* spelling = nullptr;
  // The contraction's attribute for the parameter, if the op has one.
  const char* parameter = nullptr;
  // oneDNN's algorithm, scale * f(x, alpha, beta), where alpha is the op's parameter. If none, our
  // own pass applies the op.
  std::optional<Eltwise> onednn = std::nullopt;
  float alpha = 0, beta = 0, scale = 1;
  bool onednn_loses_nan = false;  // oneDNN turns NaN into a number
  // With oneDNN, it takes longer than a pass over a large result. With AVX2, 3136 x 96 x 384 then
  // takes 0.54 of the time with Tanh, 0.52 with _GeluApproximate; with AVX-512 0.86 to 0.9.
  bool faster_outside = false;
};

struct ElementwiseInfo {
  const char* name;  // op name
  ElementwiseOp op;
  float ns;  // time per element on one core, with data in the cache; for grain sizes
  std::optional<PostOpForm> post_op = std::nullopt;  // none if contractions do not apply it
  const char* parameter = nullptr;                   // attribute for the parameter, or null
  float default_parameter = 0;

  int arity() const { return Arity(op); }
};

// All rows, and one by name (null: not one of our elementwise ops) or by what it computes.
absl::Span<const ElementwiseInfo> ElementwiseTable();
const ElementwiseInfo* FindElementwise(absl::string_view name);
const ElementwiseInfo* FindElementwise(ElementwiseOp op);
double ElementwiseCost(ElementwiseOp op);  // ns, as above
// The row for a name in `fused_ops`, which is an op's name or TensorFlow's own spelling; its
// post_op is set. Null if contractions do not apply such an op.
const ElementwiseInfo* FindFusedOp(absl::string_view name);

// out[i] = op(a[i], b[i], c[i]); missing operands are null. `out` may be one of the operands. Every
// element's bits are independent of its position and of n.
using TileFn = void (*)(const float* a, const float* b, const float* c, float* out, size_t n,
                        float parameter);

// Which operand of a binary op is a single value (a[0] or b[0]) for the whole tile.
enum class TileForm { kVectors, kScalarA, kScalarB };

// Never null for valid forms: binary ops have all three, others only kVectors.
TileFn FindTileFn(ElementwiseOp op, TileForm form = TileForm::kVectors);

// bfloat16 tiles (bits) to float and back, rounding to nearest even; NaN stays NaN.
// Denormal numbers may become 0.
void WidenBfloat16(const uint16_t* from, float* to, size_t n);
void NarrowToBfloat16(const float* from, uint16_t* to, size_t n);

// The instruction set in use: "AVX3", "AVX2", "SSE4".
const char* VectorTargetName();

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_H_
