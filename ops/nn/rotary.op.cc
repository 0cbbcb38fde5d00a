// _Rotary: rotary position embedding (kernels/attention/rotary.h).
#include "kernels/attention/rotary.h"

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status RotaryShape(ShapeContext& c) {
  const Shape& x = c.input(0);
  c.set_output(0, x);
  if (!x.has_rank()) return absl::OkStatus();
  if (x.rank() == 0) return InvalidArgument("x must have a last axis");
  const int64_t n = x.dim(x.rank() - 1);
  if (n >= 0 && n % 2 != 0) return InvalidArgument("rows of x must have an even size, not ", n);
  const bool interleaved = c.attrs().Bool("interleaved", false);
  int64_t sizes[2] = {-1, -1};
  for (int i : {1, 2}) {
    const Shape& angles = c.input(i);
    if (!angles.has_rank()) continue;
    if (angles.rank() == 0 || angles.rank() > x.rank()) {
      return InvalidArgument("cos and sin must have 1 to ", x.rank(), " dimensions");
    }
    const int64_t size = sizes[i - 1] = angles.dim(angles.rank() - 1);
    if (n >= 0 && size >= 0 && size != n && (interleaved || 2 * size != n)) {
      return InvalidArgument("rows of cos and sin must have ", n,
                             interleaved ? "" : absl::StrCat(" or ", n / 2), " elements, but have ",
                             size);
    }
  }
  if (sizes[0] >= 0 && sizes[1] >= 0 && sizes[0] != sizes[1]) {
    return InvalidArgument("rows of cos and sin must have the same size");
  }
  return absl::OkStatus();
}

const OpRegistration rotary({
    .name = "_Rotary",
    .inputs = "x: T, cos: T, sin: T",
    .outputs = "y: T",
    .attrs = "T: type; interleaved: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = RotaryShape,
    .reference = RotaryReference,
    .accelerated = RotaryVector,
    .native = "_MklNativeRotary",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .error_bound = ErrorBound::kCrossProduct,
});

}  // namespace
}  // namespace tenon
