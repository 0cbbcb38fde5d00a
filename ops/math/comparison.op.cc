// Less, LessEqual, Greater, GreaterEqual.
#include <cmath>

#include "kernels/elementwise/plain_binary.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kLess = [](auto a, auto b) { return a < b; };
constexpr auto kLessEqual = [](auto a, auto b) { return a <= b; };
constexpr auto kGreater = [](auto a, auto b) { return a > b; };
constexpr auto kGreaterEqual = [](auto a, auto b) { return a >= b; };

const OpRegistration less_op({
    .name = "Less",
    .inputs = "x: T, y: T",
    .outputs = "z: bool",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Comparison<PairMap::kLess, kLess>,
    .elementwise = true,
    .discontinuous = true,
});

const OpRegistration less_equal_op({
    .name = "LessEqual",
    .inputs = "x: T, y: T",
    .outputs = "z: bool",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Comparison<PairMap::kLessEqual, kLessEqual>,
    .elementwise = true,
    .discontinuous = true,
});

const OpRegistration greater_op({
    .name = "Greater",
    .inputs = "x: T, y: T",
    .outputs = "z: bool",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Comparison<PairMap::kGreater, kGreater>,
    .elementwise = true,
    .discontinuous = true,
});

const OpRegistration greater_equal_op({
    .name = "GreaterEqual",
    .inputs = "x: T, y: T",
    .outputs = "z: bool",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = BroadcastBinaryShape,
    .reference = Comparison<PairMap::kGreaterEqual, kGreaterEqual>,
    .elementwise = true,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
