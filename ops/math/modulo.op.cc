// FloorMod (the sign of the divisor), Mod and TruncateMod (the sign of the dividend).
#include <cmath>

#include "kernels/elementwise/integer_division.h"
#include "kernels/elementwise/plain_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kFloorMod = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (kIsInt<T>) {
    return FloorRemainder(a, b);
  } else {
    const T r = std::fmod(a, b);
    return r != T(0) && ((r < T(0)) != (b < T(0))) ? r + b : r;
  }
};
constexpr auto kTruncateMod = [](auto a, auto b) {
  if constexpr (kIsInt<decltype(a)>) {
    return TruncatedRemainder(a, b);
  } else {
    return std::fmod(a, b);
  }
};

using ModTypes = Joined<Floats, TypeList<int32_t, int64_t>>;

const OpRegistration floor_mod({
    .name = "FloorMod",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 half float double",
    .shape = BroadcastBinaryShape,
    .reference = CheckedDivision<PlainBinary::kFloorRemainder, kFloorMod, RealNumbers>,
    .elementwise = true,
    .discontinuous = true,
});

const OpRegistration mod({
    .name = "Mod",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: int32 int64 half bfloat16 float double",
    .shape = BroadcastBinaryShape,
    .reference = CheckedDivision<PlainBinary::kTruncatedRemainder, kTruncateMod, ModTypes>,
    .elementwise = true,
    .discontinuous = true,
});

const OpRegistration truncate_mod({
    .name = "TruncateMod",
    .inputs = "x: T, y: T",
    .outputs = "z: T",
    .attrs = "T: type",
    .types = "T: int32 int64 bfloat16 half float double",
    .shape = BroadcastBinaryShape,
    .reference = CheckedDivision<PlainBinary::kTruncatedRemainder, kTruncateMod, ModTypes>,
    .elementwise = true,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
