#include "kernels/layout/strided_slice_spec.h"

#include <optional>

#include "env/status.h"
#include "kernels/interface/axis.h"

namespace tenon {
namespace {

// One entry of the index as written; begin, end or stride are absent if not known yet.
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
    // v + dim must not overflow even if v is far out of range.
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

}  // namespace

Shape SliceSpec::OutputShape() const {
  Shape out;
  for (int d : output_dims) {
    out.push_back(d == kNewAxis ? 1 : ranges[static_cast<size_t>(d)].size);
  }
  return out;
}

SliceSpec::Region SliceSpec::RegionOf(const Shape& input) const {
  Region region;
  region.strides = DenseStrides(input);
  for (size_t d = 0; d < ranges.size(); ++d) {
    region.taken.push_back(ranges[d].size);
    region.offset += ranges[d].begin * region.strides[d];
    region.strides[d] *= ranges[d].stride;
  }
  return region;
}

absl::StatusOr<SliceSpec> MakeSliceSpec(const AttrReader& attrs, const Shape& input, int64_t n,
                                        const Tensor* begin, const Tensor* end,
                                        const Tensor* strides) {
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
  int64_t consumed = 0;  // input dimensions that written indices consume
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

absl::Status ExpectFits(const SliceSpec& spec, const Shape& value) {
  const Shape slice = spec.OutputShape();
  if (slice.IsComplete() && slice.num_elements() == 0) return absl::OkStatus();
  const auto broadcast = BroadcastShapes(slice, value);
  if (!broadcast.ok() || !broadcast->CompatibleWith(slice)) {
    return InvalidArgument("a value of shape ", value.ToString(), " for a slice of shape ",
                           slice.ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<StridedCopy> CopyToSlice(const SliceSpec& spec, const Shape& input,
                                        const Shape& value) {
  TENON_RETURN_IF_ERROR(ExpectFits(spec, value));
  const SliceSpec::Region region = spec.RegionOf(input);
  // The value's strides by input dimension; new axes have size 1 and no stride.
  std::vector<int64_t> from(region.strides.size(), 0);
  if (region.taken.num_elements() > 0) {
    const size_t missing = spec.output_dims.size() - static_cast<size_t>(value.rank());
    const std::vector<int64_t> dense = DenseStrides(value);
    for (size_t i = 0; i < dense.size(); ++i) {
      const int of = spec.output_dims[missing + i];
      if (of != kNewAxis && value.dim(static_cast<int>(i)) != 1) {
        from[static_cast<size_t>(of)] = dense[i];
      }
    }
  }
  return StridedCopy(region.taken.dims(), from, region.strides, 0, region.offset);
}

}  // namespace tenon
