#include "kernels/pooling/max_pool_argmax.h"

#include <string>
#include <vector>

#include "env/status.h"
#include "kernels/pooling/pool.h"
#include "kernels/pooling/pool_reference.h"

namespace tenon {
namespace {

absl::StatusOr<PoolGeometry> GeometryOf(const PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p.attrs(), 2));
  return ResolvePoolTaps(attrs, p.input_shape(0));
}

template <typename T, typename Index>
void Forward(const PoolGeometry& g, const TapTable& inputs, bool batch_in_index, RunContext& r) {
  const ImageStrides in = StridesOf(g, g.in_positions()), out = StridesOf(g, g.out_positions());
  ForPoolPositions(g, inputs, [&](int64_t n, int64_t position, absl::Span<const Tap> taps) {
    for (int64_t c = 0; c < g.channels; ++c) {
      const T* x = r.input<T>(0) + n * in.batch + c;
      const int64_t from = LargestTap(x, in.position, taps).position * in.position;
      const int64_t at = n * out.batch + position * out.position + c;
      r.output<T>(0)[at] = x[from];
      r.output<Index>(1)[at] = static_cast<Index>((batch_in_index ? n * in.batch : 0) + from + c);
    }
  });
}

// The gradients' input: argmax values, checked, as indices into the whole batch.
struct Argmax {
  int64_t image = 0, out_image = 0, elements = 0;
  bool batch_in_index = false, narrow = false;

  absl::StatusOr<int64_t> At(const RunContext& r, int64_t i) const {
    const int64_t value = narrow ? r.input<int32_t>(2)[i] : r.input<int64_t>(2)[i];
    if (value < 0 || value >= (batch_in_index ? elements : image)) {
      return InvalidArgument("argmax has ", value, ", which is outside of the input");
    }
    return value + (batch_in_index ? 0 : i / out_image * image);
  }
};

absl::StatusOr<Argmax> ArgmaxOf(const PrepareContext& p, int grad_like_output) {
  TENON_ASSIGN_OR_RETURN(const PoolGeometry g, GeometryOf(p));
  for (int i : {grad_like_output, 2}) {
    if (p.input_shape(i) == g.out_shape()) continue;
    return InvalidArgument("input ", i, " must have shape ", g.out_shape().ToString(), ", but has ",
                           p.input_shape(i).ToString());
  }
  Argmax a;
  a.image = g.in_positions() * g.channels;
  a.out_image = g.out_positions() * g.channels;
  a.elements = a.image * g.batch;
  a.batch_in_index = p.attrs().Bool("include_batch_in_index", false);
  a.narrow = p.input_dtype(2) == DType::kInt32;
  return a;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const PoolGeometry g, GeometryOf(p));
  const TapTable inputs(g, TapTable::Direction::kToInput);
  const bool batch_in_index = p.attrs().Bool("include_batch_in_index", false);
  const bool narrow = p.output_dtype(1) == DType::kInt32;
  return DispatchType(RealNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([g, inputs, batch_in_index, narrow](RunContext& r) {
      narrow ? Forward<T, int32_t>(g, inputs, batch_in_index, r)
             : Forward<T, int64_t>(g, inputs, batch_in_index, r);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxGrad(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Argmax argmax, ArgmaxOf(p, 1));
  const int64_t n = p.input_shape(2).num_elements();
  return DispatchType(RealNumbers{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([argmax, n](RunContext& r) -> absl::Status {
      std::vector<PoolSum<T>> sum(static_cast<size_t>(argmax.elements), 0);
      for (int64_t i = 0; i < n; ++i) {
        TENON_ASSIGN_OR_RETURN(const int64_t at, argmax.At(r, i));
        sum[static_cast<size_t>(at)] += static_cast<PoolSum<T>>(ToCompute(r.input<T>(1)[i]));
      }
      for (size_t i = 0; i < sum.size(); ++i) r.output<T>(0)[i] = static_cast<T>(sum[i]);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxGradGrad(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Argmax argmax, ArgmaxOf(p, 2));
  const int64_t n = p.input_shape(2).num_elements();
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = NoKernelFor(p.output_dtype(0));
  VisitStorage(p.output_dtype(0), [&]<typename T>() {
    kernel = MakeKernel([argmax, n](RunContext& r) -> absl::Status {
      for (int64_t i = 0; i < n; ++i) {
        TENON_ASSIGN_OR_RETURN(const int64_t at, argmax.At(r, i));
        r.output<T>(0)[i] = r.input<T>(1)[at];
      }
      return absl::OkStatus();
    });
  });
  return kernel;
}

}  // namespace tenon
