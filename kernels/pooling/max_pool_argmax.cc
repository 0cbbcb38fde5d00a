#include "kernels/pooling/max_pool_argmax.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "env/status.h"
#include "kernels/pooling/pool.h"
#include "kernels/pooling/pool_reference.h"

namespace tenon {
namespace {

absl::StatusOr<PoolGeometry> GeometryOf(const PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs,
                         ArgmaxPoolAttrs(p.attrs(), p.input_shape(0).dim(3)));
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

  // Calls f(i, the index that argmax value i is).
  template <typename F>
  absl::Status ForEach(const RunContext& r, F f) const {
    return narrow ? ForEachOf(r.input<int32_t>(2), f) : ForEachOf(r.input<int64_t>(2), f);
  }

 private:
  template <typename Index, typename F>
  absl::Status ForEachOf(const Index* values, F f) const {
    const int64_t end = batch_in_index ? elements : image,
                  images = image > 0 ? elements / image : 0;
    for (int64_t n = 0; n < images; ++n) {
      const int64_t base = batch_in_index ? 0 : n * image;
      for (int64_t i = n * out_image; i < (n + 1) * out_image; ++i) {
        const int64_t value = values[i];
        if (value < 0 || value >= end) {
          return InvalidArgument("argmax has ", value, ", which is outside of the input");
        }
        f(i, base + value);
      }
    }
    return absl::OkStatus();
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

absl::StatusOr<WindowAttrs> ArgmaxPoolAttrs(const AttrReader& attrs, int64_t channels) {
  Node node = attrs.node();
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> ksize, attrs.Ints("ksize"));
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> strides, attrs.Ints("strides"));
  if (ksize.size() == 4 && strides.size() == 4) {
    const bool channels_alone = ksize[1] == 1 && ksize[2] == 1 && strides[1] == 1 &&
                                strides[2] == 1 && ksize[3] == strides[3] && ksize[3] > 0 &&
                                (channels < 0 || channels % ksize[3] == 0);
    if (ksize[3] != 1 && !channels_alone) {
      return InvalidArgument("windows over channels must be over channels alone, and divide them");
    }
    ksize[3] = strides[3] = 1;
    node.attrs["ksize"] = std::move(ksize);
    node.attrs["strides"] = std::move(strides);
  }
  return ReadWindowAttrs(AttrReader(node), 2);
}

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
  return DispatchType(RealNumbers{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([argmax](RunContext& r) -> absl::Status {
      const T* const dy = r.input<T>(1);
      T* const dx = r.output<T>(0);
      if constexpr (std::is_same_v<PoolSum<T>, T>) {
        std::fill_n(dx, argmax.elements, T(0));
        return argmax.ForEach(r, [&](int64_t i, int64_t at) { dx[at] += dy[i]; });
      } else {
        std::vector<PoolSum<T>> sum(static_cast<size_t>(argmax.elements), 0);
        TENON_RETURN_IF_ERROR(argmax.ForEach(r, [&](int64_t i, int64_t at) {
          sum[static_cast<size_t>(at)] += static_cast<PoolSum<T>>(ToCompute(dy[i]));
        }));
        for (size_t i = 0; i < sum.size(); ++i) dx[i] = static_cast<T>(sum[i]);
        return absl::OkStatus();
      }
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxGradGrad(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Argmax argmax, ArgmaxOf(p, 2));
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = NoKernelFor(p.output_dtype(0));
  VisitStorage(p.output_dtype(0), [&]<typename T>() {
    kernel = MakeKernel([argmax](RunContext& r) -> absl::Status {
      const T* const x = r.input<T>(1);
      T* const y = r.output<T>(0);
      return argmax.ForEach(r, [&](int64_t i, int64_t at) { y[i] = x[at]; });
    });
  });
  return kernel;
}

}  // namespace tenon
