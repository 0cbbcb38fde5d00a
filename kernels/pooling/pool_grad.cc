#include "kernels/pooling/pool_grad.h"

#include <vector>

#include "env/status.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/pooling/pool_reference.h"

namespace tenon {
namespace {

absl::Status Expect(const char* what, const Shape& have, const Shape& want) {
  if (have == want) return absl::OkStatus();
  return InvalidArgument(what, " must have shape ", want.ToString(), ", but has ", have.ToString());
}

template <typename T>
void Average(const PoolGeometry& g, const TapTable& outputs, const T* dy, T* dx) {
  const ImageStrides in = StridesOf(g, g.in_positions()), out = StridesOf(g, g.out_positions());
  ForPoolPositions(g, outputs, [&](int64_t n, int64_t position, absl::Span<const Tap> taps) {
    for (int64_t c = 0; c < g.channels; ++c) {
      const T* from = dy + n * out.batch + c * out.channel;
      ComputeType<T> sum = 0;
      for (const Tap& t : taps) {
        sum += ToCompute(from[t.position * out.position]) * static_cast<ComputeType<T>>(t.weight);
      }
      dx[n * in.batch + position * in.position + c * in.channel] = static_cast<T>(sum);
    }
  });
}

template <typename T>
void Max(const PoolGeometry& g, const TapTable& inputs, const T* x, const T* dy, T* dx) {
  const ImageStrides in = StridesOf(g, g.in_positions()), out = StridesOf(g, g.out_positions());
  std::vector<PoolSum<T>> sum(static_cast<size_t>(g.batch * in.batch), 0);
  ForPoolPositions(g, inputs, [&](int64_t n, int64_t position, absl::Span<const Tap> taps) {
    if (taps.empty()) return;
    for (int64_t c = 0; c < g.channels; ++c) {
      const int64_t at = n * in.batch + c * in.channel;
      const Tap& best = LargestTap(x + at, in.position, taps);
      const T v = dy[n * out.batch + position * out.position + c * out.channel];
      sum[static_cast<size_t>(at + best.position * in.position)] +=
          static_cast<PoolSum<T>>(ToCompute(v));
    }
  });
  for (size_t i = 0; i < sum.size(); ++i) dx[i] = static_cast<T>(sum[i]);
}

template <typename T>
void MaxTies(const PoolGeometry& g, const TapTable& outputs, const T* x, const T* y, const T* dy,
             T* dx) {
  const ImageStrides in = StridesOf(g, g.in_positions()), out = StridesOf(g, g.out_positions());
  const T near = static_cast<T>(1e-5f);
  ForPoolPositions(g, outputs, [&](int64_t n, int64_t position, absl::Span<const Tap> taps) {
    for (int64_t c = 0; c < g.channels; ++c) {
      const int64_t at = n * in.batch + position * in.position + c * in.channel;
      const int64_t base = n * out.batch + c * out.channel;
      ComputeType<T> sum = 0;
      for (const Tap& t : taps) {
        const int64_t o = base + t.position * out.position;
        const T apart = static_cast<T>(std::abs(ToCompute(x[at]) - ToCompute(y[o])));
        if (ToCompute(apart) < ToCompute(near)) sum += ToCompute(dy[o]);
      }
      dx[at] = static_cast<T>(sum);
    }
  });
}

}  // namespace

std::vector<int> PoolGradParameters(const PrepareContext& p, PoolGradKind kind) {
  if (kind == PoolGradKind::kAverage) return {0};
  if (p.num_inputs() == 5) return {3, 4};
  return {};
}

absl::StatusOr<PoolGeometry> PoolGradGeometry(PrepareContext& p, int spatial, PoolGradKind kind) {
  const std::vector<int> parameters = PoolGradParameters(p, kind);
  for (int i : parameters) {
    if (p.value(i) == nullptr) return Unimplemented("input ", i, " is not known before the run");
  }
  const bool v2 = parameters.size() == 2;
  TENON_ASSIGN_OR_RETURN(
      const WindowAttrs attrs,
      PoolAttrs(p.attrs(), spatial, v2 ? p.value(3) : nullptr, v2 ? p.value(4) : nullptr));
  Shape input;
  if (kind == PoolGradKind::kAverage) {
    TENON_ASSIGN_OR_RETURN(input, PoolShapeOfValue(*p.value(0), spatial + 2));
  } else {
    input = p.input_shape(0);
  }
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, ResolvePoolTaps(attrs, input));
  if (kind == PoolGradKind::kAverage) {
    TENON_RETURN_IF_ERROR(Expect("grad", p.input_shape(1), g.out_shape()));
  } else {
    TENON_RETURN_IF_ERROR(Expect("orig_output", p.input_shape(1), g.out_shape()));
    TENON_RETURN_IF_ERROR(Expect("grad", p.input_shape(2), g.out_shape()));
  }
  return g;
}

absl::StatusOr<std::unique_ptr<Kernel>> PoolGradReference(PrepareContext& p, int spatial,
                                                          PoolGradKind kind) {
  TENON_ASSIGN_OR_RETURN(const PoolGeometry g, PoolGradGeometry(p, spatial, kind));
  for (int i : PoolGradParameters(p, kind)) p.InputNotRead(i);
  const TapTable table(g, kind == PoolGradKind::kMax ? TapTable::Direction::kToInput
                                                     : TapTable::Direction::kToOutput);
  const DType dtype = p.output_dtype(0);
  if (kind != PoolGradKind::kAverage && p.input_dtype(0) != dtype) {
    return Unimplemented("orig_input and grad are of different dtypes");
  }
  if (kind == PoolGradKind::kMax) {
    return DispatchType(RealNumbers{}, dtype, [&]<typename T>() {
      return MakeKernel([g, table](RunContext& r) {
        Max(g, table, r.input<T>(0), r.input<T>(2), r.output<T>(0));
        return absl::OkStatus();
      });
    });
  }
  return DispatchType(Floats{}, dtype, [&]<typename T>() {
    return MakeKernel([g, table, kind](RunContext& r) {
      if (kind == PoolGradKind::kAverage) {
        Average(g, table, r.input<T>(1), r.output<T>(0));
      } else {
        MaxTies(g, table, r.input<T>(0), r.input<T>(1), r.input<T>(2), r.output<T>(0));
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
