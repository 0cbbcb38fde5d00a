// StridedSlice: NumPy's basic indexing, with begin, end, ellipsis, new-axis and shrink masks.
#include <optional>

#include "ops/array/axis.h"
#include "ops/array/strided_copy.h"
#include "ops/late_kernel.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int kNewAxis = -1;

// What each input dimension keeps, and how the output's dimensions follow.
struct SliceSpec {
  struct Range {
    int64_t begin = 0;
    int64_t stride = 1;
    int64_t size = -1;  // elements kept; -1: not known
  };
  std::vector<Range> ranges;     // one per input dimension
  std::vector<int> output_dims;  // the input dimension of each output dimension, or kNewAxis
};

// One entry of the index as written; begin, end or stride that are not known yet are absent.
struct Index {
  std::optional<int64_t> begin;
  std::optional<int64_t> end;
  std::optional<int64_t> stride;
  bool begin_mask = false;
  bool end_mask = false;
  bool shrink = false;
};

absl::StatusOr<SliceSpec::Range> Resolve(const Index& index, int64_t dim, int i) {
  SliceSpec::Range range;
  const int64_t stride = index.stride.value_or(1);
  if (stride == 0) return InvalidArgument("strides[", i, "] must be non-zero");
  range.stride = stride;
  if (index.shrink) {
    if (stride < 0) return InvalidArgument("only stride 1 allowed on non-range indexing");
    range.size = 1;
    range.stride = 1;
    if (dim < 0 || !index.begin) return range;
    range.begin = *index.begin < 0 ? *index.begin + dim : *index.begin;
    if (range.begin < 0 || range.begin >= dim) {
      return InvalidArgument("slice index ", *index.begin, " of dimension ", i,
                             " is out of bounds for size ", dim);
    }
    return range;
  }
  if (dim < 0 || !index.stride) return range;
  const int64_t lowest = stride > 0 ? 0 : -1;
  const int64_t highest = stride > 0 ? dim : dim - 1;
  auto clamp = [&](int64_t v) {
    // Far out of range, v + dim must not overflow.
    const int64_t forward = v < 0 ? v + dim : v;
    return std::min(std::max(forward, lowest), highest);
  };
  if (!index.begin_mask && !index.begin) return range;
  if (!index.end_mask && !index.end) return range;
  range.begin = index.begin_mask ? (stride > 0 ? lowest : highest) : clamp(*index.begin);
  const int64_t end = index.end_mask ? (stride > 0 ? highest : lowest) : clamp(*index.end);
  const int64_t span = end - range.begin;
  if (span == 0 || (span < 0) != (stride < 0)) {
    range.size = 0;
  } else {
    range.size = span / stride + (span % stride != 0 ? 1 : 0);
  }
  return range;
}

absl::StatusOr<std::vector<int64_t>> VectorOf(const Tensor& t, const char* name) {
  if (t.shape().rank() != 1) {
    return InvalidArgument(name, " must be a vector, but has shape ", t.shape().ToString());
  }
  return IntegersOf(t);
}

// `input` has a known rank. Null tensors: values not known yet, but `n` of them.
absl::StatusOr<SliceSpec> MakeSpec(const AttrReader& attrs, const Shape& input, int64_t n,
                                   const Tensor* begin, const Tensor* end, const Tensor* strides) {
  if (n > 32) return InvalidArgument("a slice of more than 32 indices");
  std::vector<int64_t> values[3];
  const Tensor* tensors[3] = {begin, end, strides};
  const char* names[3] = {"begin", "end", "strides"};
  for (int k = 0; k < 3; ++k) {
    if (tensors[k] == nullptr) continue;
    TENON_ASSIGN_OR_RETURN(values[k], VectorOf(*tensors[k], names[k]));
    if (std::ssize(values[k]) != n) {
      return InvalidArgument("begin, end and strides must be vectors of equal length");
    }
  }
  auto mask = [&](const char* name) { return static_cast<uint64_t>(attrs.Int(name, 0)); };
  const uint64_t begin_mask = mask("begin_mask"), end_mask = mask("end_mask");
  const uint64_t ellipsis_mask = mask("ellipsis_mask"), new_axis_mask = mask("new_axis_mask");
  const uint64_t shrink_mask = mask("shrink_axis_mask");
  auto bit = [](uint64_t m, int64_t i) { return (m >> i & 1) != 0; };

  int ellipses = 0;
  int64_t consumed = 0;  // input dimensions that written indices take
  for (int64_t i = 0; i < n; ++i) {
    if (bit(ellipsis_mask, i)) {
      ++ellipses;
    } else if (!bit(new_axis_mask, i)) {
      ++consumed;
    }
  }
  if (ellipses > 1) return InvalidArgument("multiple ellipses in a slice");
  const int rank = input.rank();
  if (consumed > rank) {
    return InvalidArgument("a slice of ", consumed, " dimensions on shape ", input.ToString());
  }

  SliceSpec spec;
  Index whole;
  whole.stride = 1;
  whole.begin_mask = whole.end_mask = true;
  auto add_whole = [&](int64_t count) -> absl::Status {
    for (int64_t j = 0; j < count; ++j) {
      const int d = static_cast<int>(spec.ranges.size());
      TENON_ASSIGN_OR_RETURN(SliceSpec::Range range, Resolve(whole, input.dim(d), d));
      spec.ranges.push_back(range);
      spec.output_dims.push_back(d);
    }
    return absl::OkStatus();
  };
  for (int64_t i = 0; i < n; ++i) {
    const size_t k = static_cast<size_t>(i);
    if (bit(ellipsis_mask, i)) {
      TENON_RETURN_IF_ERROR(add_whole(rank - consumed));
      continue;
    }
    if (bit(new_axis_mask, i)) {
      spec.output_dims.push_back(kNewAxis);
      continue;
    }
    Index index;
    if (begin != nullptr) index.begin = values[0][k];
    if (end != nullptr) index.end = values[1][k];
    if (strides != nullptr) index.stride = values[2][k];
    index.begin_mask = bit(begin_mask, i);
    index.end_mask = bit(end_mask, i);
    index.shrink = bit(shrink_mask, i);
    const int d = static_cast<int>(spec.ranges.size());
    TENON_ASSIGN_OR_RETURN(SliceSpec::Range range, Resolve(index, input.dim(d), d));
    spec.ranges.push_back(range);
    if (!index.shrink) spec.output_dims.push_back(d);
  }
  TENON_RETURN_IF_ERROR(add_whole(rank - std::ssize(spec.ranges)));
  return spec;
}

absl::Status StridedSliceShape(ShapeContext& c) {
  int64_t n = -1;
  for (int i = 1; i <= 3; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (n < 0 && c.input(i).has_rank()) n = c.input(i).dim(0);
  }
  if (!c.input(0).has_rank() || n < 0) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const SliceSpec spec,
                         MakeSpec(c.attrs(), c.input(0), n, c.value(1), c.value(2), c.value(3)));
  Shape out;
  for (int d : spec.output_dims) {
    out.push_back(d == kNewAxis ? 1 : spec.ranges[static_cast<size_t>(d)].size);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> StridedSlice(PrepareContext& p) {
  const Tensor* begin = p.value(1);
  const Tensor* end = p.value(2);
  const Tensor* strides = p.value(3);
  if (begin == nullptr || end == nullptr || strides == nullptr) {
    return PrepareLate(p, StridedSlice, {1, 2, 3});
  }
  for (int i = 1; i <= 3; ++i) p.InputNotRead(i);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const SliceSpec spec,
                         MakeSpec(p.attrs(), in, begin->num_elements(), begin, end, strides));
  std::vector<int64_t> src = DenseStrides(in);
  Shape taken;
  int64_t offset = 0;
  for (size_t d = 0; d < src.size(); ++d) {
    taken.push_back(spec.ranges[d].size);
    offset += spec.ranges[d].begin * src[d];
    src[d] *= spec.ranges[d].stride;
  }
  const StridedCopy copy(taken.dims(), src, DenseStrides(taken), offset);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([copy, dtype](RunContext& run) {
    copy.Run(dtype, run.input(0), run.output(0));
    return absl::OkStatus();
  });
}

const OpRegistration strided_slice({
    .name = "StridedSlice",
    .inputs = "input: T, begin: Index, end: Index, strides: Index",
    .outputs = "output: T",
    .attrs = "T: type; Index: type; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = "
             "0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
    .types = "Index: int16 int32 int64",
    .shape = StridedSliceShape,
    .reference = StridedSlice,
});

}  // namespace
}  // namespace tenon
