#include "kernels/xla/conv.h"

#include <algorithm>

#include "env/status.h"
#include "kernels/contraction/reference_types.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/xla/conv_loops.h"

namespace tenon {
namespace {

constexpr int64_t kMostDilation = int64_t{1} << 31;  // so that sizes do not overflow

absl::Status ExpectLength(const Tensor& t, const char* what, Shape expected) {
  if (t.shape() == expected) return absl::OkStatus();
  return InvalidArgument(what, " must have shape ", expected.ToString(), ", but has ",
                         t.shape().ToString());
}

template <typename C, typename T>
C ToNumber(T x) {
  if constexpr (kIsComplex<C> && !kIsComplex<T>) {
    return C(static_cast<typename C::value_type>(x));
  } else {
    return static_cast<C>(x);
  }
}

// The elements as numbers of type C.
template <typename C>
using LoadFn = void (*)(const void* data, int64_t n, std::vector<C>& out);

template <typename C>
absl::Status FindLoad(DType dtype, LoadFn<C>& load) {
  using Loadable = std::conditional_t<kIsComplex<C>, Numbers, RealNumbers>;
  return DispatchType(Loadable{}, dtype, [&]<typename T>() {
    load = [](const void* data, int64_t n, std::vector<C>& out) {
      const T* const x = static_cast<const T*>(data);
      out.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) out[static_cast<size_t>(i)] = ToNumber<C>(x[i]);
    };
    return absl::OkStatus();
  });
}

template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> MakeConv(const ConvLoops& loops, PrepareContext& p) {
  using C = AccumulatorType<T>;
  LoadFn<C> load_lhs = nullptr, load_rhs = nullptr;
  TENON_RETURN_IF_ERROR(FindLoad<C>(p.input_dtype(0), load_lhs));
  TENON_RETURN_IF_ERROR(FindLoad<C>(p.input_dtype(1), load_rhs));
  const int64_t n = p.input_shape(0).num_elements(), m = p.input_shape(1).num_elements();
  const bool empty = p.output_shape(0).num_elements() == 0;
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    if (empty) return absl::OkStatus();
    std::vector<C> x, w;
    load_lhs(run.input(0), n, x);
    load_rhs(run.input(1), m, w);
    RunConvLoops(loops, x.data(), w.data(), run.output<T>(0), threads,
                 [](C sum, int64_t, int64_t) { return static_cast<T>(sum); });
    return absl::OkStatus();
  });
}

}  // namespace

ConvLoops MakeConvLoops(const ConvSpec& spec, const Shape& lhs, const Shape& rhs,
                        const Shape& out) {
  const std::vector<int64_t> in = DenseStrides(lhs), kernel = DenseStrides(rhs),
                             to = DenseStrides(out);
  const auto at = [](const std::vector<int64_t>& v, int64_t d) {
    return v[static_cast<size_t>(d)];
  };
  const auto size = [](const Shape& s, int64_t d) { return s.dim(static_cast<int>(d)); };
  const ConvNumbers& n = spec.numbers;
  ConvLoops loops;
  for (size_t i = 0; i < spec.windows.size(); ++i) {
    const int64_t a = n.input.spatial[i], b = n.kernel.spatial[i], c = n.output.spatial[i];
    loops.axes.push_back(
        {spec.windows[i], size(lhs, a), at(in, a), size(rhs, b), at(kernel, b), at(to, c)});
    loops.positions.push_back(size(out, c));
  }
  loops.images = size(out, n.output.batch);
  loops.features = size(out, n.output.feature);
  loops.depth = size(rhs, n.kernel.feature);
  loops.features_per_group = loops.features / spec.feature_groups;
  loops.features_per_batch_group = loops.features / spec.batch_groups;
  loops.in_image = at(in, n.input.batch);
  loops.in_feature = at(in, n.input.feature);
  loops.kernel_in = at(kernel, n.kernel.feature);
  loops.kernel_out = at(kernel, n.kernel.batch);
  loops.out_image = at(to, n.output.batch);
  loops.out_feature = at(to, n.output.feature);
  return loops;
}

absl::StatusOr<int64_t> ConvWindow::Positions(int64_t size, int64_t kernel) const {
  if (size < 0 || kernel < 0) return -1;
  int64_t padded = 0, span = 0;
  if (__builtin_mul_overflow(std::max<int64_t>(size - 1, 0), lhs_dilation, &padded) ||
      __builtin_add_overflow(padded, std::min<int64_t>(size, 1), &padded) ||
      __builtin_add_overflow(padded, low, &padded) ||
      __builtin_add_overflow(padded, high, &padded) ||
      __builtin_mul_overflow(std::max<int64_t>(kernel - 1, 0), rhs_dilation, &span)) {
    return InvalidArgument("a window that is too large");
  }
  span += std::min<int64_t>(kernel, 1);
  if (padded < 0) {
    return InvalidArgument("padding ", low, ", ", high, " takes more than a size of ", size);
  }
  if (padded == 0 || span > padded) return 0;
  return (padded - span) / stride + 1;
}

absl::StatusOr<ConvSpec> MakeConvSpec(const AttrReader& attrs, const Tensor* const (&values)[5]) {
  ConvSpec spec;
  TENON_ASSIGN_OR_RETURN(const std::string bytes, attrs.String("dimension_numbers"));
  TENON_ASSIGN_OR_RETURN(spec.numbers, ParseConvNumbers(bytes));
  spec.batch_groups = attrs.Int("batch_group_count", 1);
  const int64_t rank = static_cast<int64_t>(spec.numbers.input.spatial.size());
  spec.windows.resize(static_cast<size_t>(rank));
  const auto [strides, padding, lhs_dilation, rhs_dilation, groups] = values;
  TENON_RETURN_IF_ERROR(ExpectLength(*strides, "window_strides", Shape({rank})));
  TENON_RETURN_IF_ERROR(ExpectLength(*padding, "padding", Shape({rank, 2})));
  TENON_RETURN_IF_ERROR(ExpectLength(*lhs_dilation, "lhs_dilation", Shape({rank})));
  TENON_RETURN_IF_ERROR(ExpectLength(*rhs_dilation, "rhs_dilation", Shape({rank})));
  TENON_ASSIGN_OR_RETURN(spec.feature_groups, ScalarInteger(*groups, "feature_group_count"));
  TENON_ASSIGN_OR_RETURN(const DimList s, IntegersOf(*strides));
  TENON_ASSIGN_OR_RETURN(const DimList pads, IntegersOf(*padding));
  TENON_ASSIGN_OR_RETURN(const DimList l, IntegersOf(*lhs_dilation));
  TENON_ASSIGN_OR_RETURN(const DimList r, IntegersOf(*rhs_dilation));
  for (size_t i = 0; i < spec.windows.size(); ++i) {
    for (int64_t v : {s[i], l[i], r[i]}) {
      if (v < 1 || v > kMostDilation) return InvalidArgument("a stride or dilation of ", v);
    }
    spec.windows[i] = {s[i], pads[2 * i], pads[2 * i + 1], l[i], r[i]};
  }
  if (spec.feature_groups < 1 || spec.batch_groups < 1 ||
      (spec.feature_groups > 1 && spec.batch_groups > 1)) {
    return InvalidArgument(spec.feature_groups, " feature groups and ", spec.batch_groups,
                           " batch groups");
  }
  return spec;
}

absl::StatusOr<Shape> ConvOutput(const ConvSpec& spec, const Shape& lhs, const Shape& rhs) {
  const ConvNumbers& n = spec.numbers;
  const int rank = static_cast<int>(spec.windows.size()) + 2;
  if (!n.input.Covers(lhs.rank()) || !n.kernel.Covers(rhs.rank()) || !n.output.Covers(rank) ||
      lhs.rank() != rank || rhs.rank() != rank) {
    return InvalidArgument("dimension numbers that do not fit operands of shapes ", lhs.ToString(),
                           " and ", rhs.ToString());
  }
  const auto size = [](const Shape& s, int64_t d) { return s.dim(static_cast<int>(d)); };
  const int64_t images = size(lhs, n.input.batch), channels = size(lhs, n.input.feature);
  const int64_t depth = size(rhs, n.kernel.feature), features = size(rhs, n.kernel.batch);
  if (channels >= 0 && depth >= 0 &&
      (channels % spec.feature_groups != 0 || channels / spec.feature_groups != depth)) {
    return InvalidArgument("a kernel of ", depth, " input features for ", channels, " features in ",
                           spec.feature_groups, " groups");
  }
  if (features >= 0 && (features % spec.feature_groups != 0 || features % spec.batch_groups != 0)) {
    return InvalidArgument(features, " output features in ",
                           spec.feature_groups * spec.batch_groups, " groups");
  }
  if (images >= 0 && images % spec.batch_groups != 0) {
    return InvalidArgument(images, " images in ", spec.batch_groups, " groups");
  }
  Shape out = Shape::UnknownOfRank(rank);
  out.set_dim(static_cast<int>(n.output.batch), images < 0 ? -1 : images / spec.batch_groups);
  out.set_dim(static_cast<int>(n.output.feature), features);
  for (size_t i = 0; i < spec.windows.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(
        const int64_t positions,
        spec.windows[i].Positions(size(lhs, n.input.spatial[i]), size(rhs, n.kernel.spatial[i])));
    out.set_dim(static_cast<int>(n.output.spatial[i]), positions);
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Kernel>> XlaConvKernel(PrepareContext& p) {
  const Tensor* values[5];
  for (int i = 0; i < 5; ++i) {
    values[i] = p.value(2 + i);
    if (values[i] == nullptr) return PrepareLate(p, XlaConvKernel, {2, 3, 4, 5, 6});
  }
  for (int i = 2; i < 7; ++i) p.InputNotRead(i);
  TENON_ASSIGN_OR_RETURN(const ConvSpec spec, MakeConvSpec(p.attrs(), values));
  const ConvLoops loops =
      MakeConvLoops(spec, p.input_shape(0), p.input_shape(1), p.output_shape(0));
  return DispatchType(Numbers{}, p.output_dtype(0),
                      [&]<typename T>() { return MakeConv<T>(loops, p); });
}

}  // namespace tenon
