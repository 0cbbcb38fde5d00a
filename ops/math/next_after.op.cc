// NextAfter: the next value after x1 in the direction of x2.
#include <cmath>

#include "kernels/elementwise/reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kNextAfter = [](auto x1, auto x2) { return std::nextafter(x1, x2); };

const OpRegistration next_after_op({
    .name = "NextAfter",
    .inputs = "x1: T, x2: T",
    .outputs = "output: T",
    .attrs = "T: type = float",
    .types = "T: float double",
    .shape = BroadcastBinaryShape,
    .reference = Binary<kNextAfter, TypeList<float, double>>,
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
