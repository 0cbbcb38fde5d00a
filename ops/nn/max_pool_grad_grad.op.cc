// MaxPoolGradGrad, V2 and 3D, the gradient of a max pool's gradient: for each window, the element
// of `grad` at the first position where orig_input equals orig_output; 0 if there is none.
#include "env/status.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/pooling/pool_reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <int kSpatial>
absl::Status GradGradShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, kSpatial + 2));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(0), c.input(2)).status());
  c.set_output(0, c.input(1).has_rank() ? c.input(1) : Shape::UnknownOfRank(kSpatial + 2));
  return absl::OkStatus();
}

template <typename T>
void GradGrad(const PoolGeometry& g, const TapTable& inputs, RunContext& r) {
  const ImageStrides in = StridesOf(g, g.in_positions()), out = StridesOf(g, g.out_positions());
  const T* const x = r.input<T>(0);
  const T* const y = r.input<T>(1);
  const T* const grad = r.input<T>(2);
  ForPoolPositions(g, inputs, [&](int64_t n, int64_t position, absl::Span<const Tap> taps) {
    for (int64_t c = 0; c < g.channels; ++c) {
      const int64_t at = n * out.batch + position * out.position + c * out.channel;
      T v = static_cast<T>(0);
      for (const Tap& t : taps) {
        const int64_t i = n * in.batch + t.position * in.position + c * in.channel;
        if (!(ToCompute(x[i]) == ToCompute(y[at]))) continue;
        v = grad[i];
        break;
      }
      r.output<T>(0)[at] = v;
    }
  });
}

template <int kSpatial>
absl::StatusOr<std::unique_ptr<Kernel>> ReferenceMaxPoolGradGrad(PrepareContext& p) {
  const bool v2 = p.num_inputs() == 5;
  const Tensor* const ksize = v2 ? p.value(3) : nullptr;
  const Tensor* const strides = v2 ? p.value(4) : nullptr;
  if (v2 && (ksize == nullptr || strides == nullptr)) {
    return PrepareLate(p, ReferenceMaxPoolGradGrad<kSpatial>, {3, 4});
  }
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, PoolAttrs(p.attrs(), kSpatial, ksize, strides));
  TENON_ASSIGN_OR_RETURN(const PoolGeometry g, ResolvePoolTaps(attrs, p.input_shape(0)));
  if (p.input_shape(1) != g.out_shape()) {
    return InvalidArgument("orig_output must have shape ", g.out_shape().ToString(), ", but has ",
                           p.input_shape(1).ToString());
  }
  for (int i = 3; i < p.num_inputs(); ++i) p.InputNotRead(i);
  const TapTable inputs(g, TapTable::Direction::kToInput);
  return DispatchType(RealNumbers{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([g, inputs](RunContext& r) {
      GradGrad<T>(g, inputs, r);
      return absl::OkStatus();
    });
  });
}

constexpr char kGradGradTypes[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64";

const OpRegistration grad_grad({
    .name = "MaxPoolGradGrad",
    .inputs = "orig_input: T, orig_output: T, grad: T",
    .outputs = "output: T",
    .attrs = "ksize: list(int); strides: list(int); padding: string; "
             "data_format: string = NHWC; T: type",
    .types = kGradGradTypes,
    .shape = GradGradShape<2>,
    .reference = ReferenceMaxPoolGradGrad<2>,
    .error_bound = ErrorBound::kPoolGradient,
});

const OpRegistration grad_grad_v2({
    .name = "MaxPoolGradGradV2",
    .inputs = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32",
    .outputs = "output: T",
    .attrs = "padding: string; data_format: string = NHWC; T: type",
    .types = kGradGradTypes,
    .shape = GradGradShape<2>,
    .reference = ReferenceMaxPoolGradGrad<2>,
    .error_bound = ErrorBound::kPoolGradient,
});

const OpRegistration grad_grad_3d({
    .name = "MaxPool3DGradGrad",
    .inputs = "orig_input: T, orig_output: T, grad: T",
    .outputs = "output: T",
    .attrs = "ksize: list(int); strides: list(int); padding: string; "
             "data_format: string = NDHWC; T: type",
    .types = kGradGradTypes,
    .shape = GradGradShape<3>,
    .reference = ReferenceMaxPoolGradGrad<3>,
    .error_bound = ErrorBound::kPoolGradient,
});

}  // namespace
}  // namespace tenon
