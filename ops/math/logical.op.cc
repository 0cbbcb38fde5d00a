// LogicalAnd, LogicalOr, LogicalNot, and the bitwise ops.
#include "kernels/elementwise/plain_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kAnd = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
constexpr auto kOr = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
constexpr auto kXor = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };
// On bytes, which are 0 or 1: loops over bool do not become vector code.
void NotLoop(const void* x, void* y, int64_t n) {
  const auto* const in = static_cast<const uint8_t*>(x);
  auto* const out = static_cast<uint8_t*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = in[i] ^ 1;
}
absl::StatusOr<std::unique_ptr<Kernel>> Not(PrepareContext& p) {
  return MakeUnaryKernel(p, {&NotLoop, sizeof(bool), sizeof(bool)});
}
constexpr auto kInvert = [](auto x) { return static_cast<decltype(x)>(~x); };
using Bool = TypeList<bool>;

const OpRegistration logical_and_op({
    .name = "LogicalAnd",
    .inputs = "x: bool, y: bool",
    .outputs = "z: bool",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kAnd, Bool>,
    .commutative = true,
    .elementwise = true,
});

const OpRegistration logical_or_op({
    .name = "LogicalOr",
    .inputs = "x: bool, y: bool",
    .outputs = "z: bool",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kOr, Bool>,
    .commutative = true,
    .elementwise = true,
});

const OpRegistration logical_not_op({
    .name = "LogicalNot",
    .inputs = "x: bool",
    .outputs = "y: bool",
    .shape = UnchangedShape,
    .reference = Not,
    .elementwise = true,
});

const OpRegistration bitwise_and_op({
    .name = "BitwiseAnd",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kAnd, Ints>,
    .commutative = true,
    .elementwise = true,
});

const OpRegistration bitwise_or_op({
    .name = "BitwiseOr",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kOr, Ints>,
    .commutative = true,
    .elementwise = true,
});

const OpRegistration bitwise_xor_op({
    .name = "BitwiseXor",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kXor, Ints>,
    .commutative = true,
    .elementwise = true,
});

const OpRegistration invert_op({
    .name = "Invert",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = UnchangedShape,
    .reference = Unary<kInvert, Ints>,
    .elementwise = true,
});

// Shifts by less than zero or by at least the width are undefined in TensorFlow; here the count is
// clamped to the valid range.
const OpRegistration left_shift_op({
    .name = "LeftShift",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = VectorShift<PairMap::kLeftShift>,
    .elementwise = true,
});

const OpRegistration right_shift_op({
    .name = "RightShift",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = VectorShift<PairMap::kRightShift>,
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
