// MaxPoolGradGrad, V2 and 3D, the gradient of a max pool's gradient: for each window, the element
// of `grad` at the first position where orig_input equals orig_output; 0 if there is none.
#include <algorithm>

#include "env/status.h"
#include "kernels/convolution/image_positions.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/pooling/pool_reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

// out = grad where x equals y.
template <typename T>
void ChooseEqual(const T* x, const T* y, const T* grad, int64_t n, T* __restrict__ out) {
  for (int64_t i = 0; i < n; ++i) {
    const T here = grad[i], before = out[i];
    out[i] = ToCompute(x[i]) == ToCompute(y[i]) ? here : before;
  }
}

template <int kSpatial>
absl::Status GradGradShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, kSpatial + 2));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(0), c.input(2)).status());
  c.set_output(0, c.input(1).has_rank() ? c.input(1) : Shape::UnknownOfRank(kSpatial + 2));
  return absl::OkStatus();
}

// Channels last: all channels of a position together, from its last tap to the first.
template <typename T>
void GradGradInRows(const PoolGeometry& g, const TapTable& inputs, int threads, RunContext& r) {
  const int64_t channels = g.channels, in_image = g.in_positions() * channels;
  const double ns = 0.2 * static_cast<double>(inputs.row_length() * channels) *
                    static_cast<double>(ProductOf(g.attrs.window));
  ParallelFor(threads, g.batch * inputs.rows(), ParallelGrain(ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / inputs.rows();
      const T* const x = r.input<T>(0) + image * in_image;
      const T* const grad = r.input<T>(2) + image * in_image;
      inputs.ForRow(i % inputs.rows(), [&](int64_t position, absl::Span<const Tap> taps) {
        const int64_t at = (image * g.out_positions() + position) * channels;
        const T* const y = r.input<T>(1) + at;
        T* const out = r.output<T>(0) + at;
        std::fill_n(out, channels, static_cast<T>(0));
        for (size_t t = taps.size(); t-- > 0;) {
          ChooseEqual(x + taps[t].position * channels, y, grad + taps[t].position * channels,
                      channels, out);
        }
      });
    }
  });
}

template <typename T>
void GradGrad(const PoolGeometry& g, const TapTable& inputs, int threads, RunContext& r) {
  const ImageStrides in = StridesOf(g, g.in_positions()), out = StridesOf(g, g.out_positions());
  const T* const x = r.input<T>(0);
  const T* const y = r.input<T>(1);
  const T* const grad = r.input<T>(2);
  if (g.attrs.channels_last) return GradGradInRows<T>(g, inputs, threads, r);
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
    return MakeKernel([g, inputs, threads = p.services().threads](RunContext& r) {
      GradGrad<T>(g, inputs, threads, r);
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
