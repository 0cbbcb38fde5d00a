// _MaxPoolWithWorkspace and _MaxPoolGradWithWorkspace: a max pool that records, for the gradient in
// the same graph, the position of each largest element in its window. Only rewriting creates them.
#include <limits>

#include "env/status.h"
#include "kernels/pooling/pool.h"
#include "kernels/pooling/pool_grad.h"
#include "kernels/pooling/pool_reference.h"
#include "ops/nn/pool_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status WorkspaceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(PoolShape(c, 2));
  const Shape output = c.outputs()[0];
  c.set_output(1, output);
  return absl::OkStatus();
}

absl::Status WorkspaceGradShape(ShapeContext& c) { return MaxPoolGradShape(c, 2); }

absl::StatusOr<PoolGeometry> GeometryOf(const PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p.attrs(), 2));
  return ResolvePoolTaps(attrs, p.input_shape(0));
}

absl::StatusOr<std::unique_ptr<Kernel>> Forward(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const PoolGeometry g, GeometryOf(p));
  if (g.window_positions() > 256) return InvalidArgument("the window has more than 256 elements");
  const TapTable inputs(g, TapTable::Direction::kToInput);
  return DispatchType(TypeList<float, bfloat16>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([g, inputs](RunContext& r) {
      const ImageStrides in = StridesOf(g, g.in_positions()), out = StridesOf(g, g.out_positions());
      ForPoolPositions(g, inputs, [&](int64_t n, int64_t position, absl::Span<const Tap> taps) {
        for (int64_t c = 0; c < g.channels && !taps.empty(); ++c) {
          const T* x = r.input<T>(0) + n * in.batch + c * in.channel;
          const Tap& best = LargestTap(x, in.position, taps);
          const int64_t at = n * out.batch + position * out.position + c * out.channel;
          // As in MaxPool: starts from the lowest number, so that a NaN never wins.
          T largest = std::numeric_limits<T>::lowest();
          for (const Tap& t : taps) {
            const T v = x[t.position * in.position];
            if (ToCompute(largest) < ToCompute(v)) largest = v;
          }
          r.output<T>(0)[at] = largest;
          r.output<uint8_t>(1)[at] = static_cast<uint8_t>(best.index);
        }
      });
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Grad(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const PoolGeometry g, GeometryOf(p));
  if (p.input_shape(1) != g.out_shape()) {
    return InvalidArgument("grad must have shape ", g.out_shape().ToString(), ", but has ",
                           p.input_shape(1).ToString());
  }
  const TapTable outputs(g, TapTable::Direction::kToOutput);
  p.InputNotRead(0);
  return DispatchType(TypeList<float, bfloat16>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([g, outputs](RunContext& r) {
      const ImageStrides in = StridesOf(g, g.in_positions()), out = StridesOf(g, g.out_positions());
      ForPoolPositions(g, outputs, [&](int64_t n, int64_t position, absl::Span<const Tap> taps) {
        for (int64_t c = 0; c < g.channels; ++c) {
          float sum = 0;
          for (const Tap& t : taps) {
            const int64_t o = n * out.batch + t.position * out.position + c * out.channel;
            if (r.input<uint8_t>(2)[o] == t.index) sum += ToCompute(r.input<T>(1)[o]);
          }
          r.output<T>(0)[n * in.batch + position * in.position + c * in.channel] =
              static_cast<T>(sum);
        }
      });
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ForwardVector(PrepareContext& p) {
  return MaxPoolWorkspaceVector(p, 2);
}
absl::StatusOr<std::unique_ptr<Kernel>> GradVector(PrepareContext& p) {
  return MaxPoolGradWorkspaceVector(p, 2);
}

const OpRegistration workspace_forward({
    .name = "_MaxPoolWithWorkspace",
    .inputs = "input: T",
    .outputs = "output: T, workspace: uint8",
    .attrs = "T: type = float; ksize: list(int); strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC",
    .types = "T: bfloat16 float",
    .shape = WorkspaceShape,
    .reference = Forward,
    .accelerated = ForwardVector,
    .native = "_MklNativeMaxPoolWithWorkspace",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
});

const OpRegistration workspace_grad({
    .name = "_MaxPoolGradWithWorkspace",
    .inputs = "orig_input: T, grad: T, workspace: uint8",
    .outputs = "output: T",
    .attrs = "T: type = float; ksize: list(int); strides: list(int); padding: string; "
             "explicit_paddings: list(int) = []; data_format: string = NHWC",
    .types = "T: bfloat16 float",
    .shape = WorkspaceGradShape,
    .reference = Grad,
    .accelerated = GradVector,
    .native = "_MklNativeMaxPoolGradWithWorkspace",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .error_bound = ErrorBound::kPoolGradient,
});

}  // namespace
}  // namespace tenon
