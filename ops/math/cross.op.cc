// Cross: the cross product of three-dimensional vectors along the last dimension.
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CrossShape(ShapeContext& c) {
  const Shape& a = c.input(0);
  if (!a.CompatibleWith(c.input(1))) {
    return InvalidArgument("both inputs must have one shape: ", a.ToString(), " and ",
                           c.input(1).ToString());
  }
  for (int i = 0; i < 2; ++i) {
    const Shape& s = c.input(i);
    if (!s.has_rank()) continue;
    if (s.rank() < 1 || (s.dim(s.rank() - 1) >= 0 && s.dim(s.rank() - 1) != 3)) {
      return InvalidArgument("the last dimension must be 3, but the shape is ", s.ToString());
    }
  }
  c.set_output(0, a);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Cross(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements() / 3;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([n](RunContext& run) {
      const T* a = run.input<T>(0);
      const T* b = run.input<T>(1);
      T* out = run.output<T>(0);
      for (int64_t i = 0; i < n; ++i, a += 3, b += 3, out += 3) {
        for (int k = 0; k < 3; ++k) {
          const int u = (k + 1) % 3, v = (k + 2) % 3;
          // Each product and the difference are rounded to T, as in TensorFlow's kernel.
          const T uv = static_cast<T>(WrapMul(ToCompute(a[u]), ToCompute(b[v])));
          const T vu = static_cast<T>(WrapMul(ToCompute(a[v]), ToCompute(b[u])));
          out[k] = static_cast<T>(WrapSub(ToCompute(uv), ToCompute(vu)));
        }
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration cross_op({
    .name = "Cross",
    .inputs = "a: T, b: T",
    .outputs = "product: T",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = CrossShape,
    .reference = Cross,
    .error_bound = ErrorBound::kCrossProduct,
});

}  // namespace
}  // namespace tenon
