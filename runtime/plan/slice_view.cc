#include "runtime/plan/slice_view.h"

#include <algorithm>

#include "graph/object.h"
#include "kernels/interface/axis.h"
#include "kernels/layout/strided_slice_spec.h"
#include "kernels/layout/transpose_reference.h"

namespace tenon {
namespace {

// Whether a block of `taken` elements of `whole` is contiguous: it takes all of the dimensions that
// follow the first one of which it takes several.
bool IsContiguous(const Shape& taken, const Shape& whole) {
  int d = 0;
  while (d < taken.rank() && taken.dim(d) == 1) ++d;
  for (++d; d < taken.rank(); ++d) {
    if (taken.dim(d) != whole.dim(d)) return false;
  }
  return true;
}

// In elements.
std::optional<int64_t> SliceOffset(const Shape& in, const Tensor& begin, const Shape& out) {
  const auto at = IntegersOf(begin);
  if (!at.ok() || std::ssize(*at) != in.rank() || out.rank() != in.rank()) return std::nullopt;
  if (!IsContiguous(out, in)) return std::nullopt;
  const std::vector<int64_t> strides = DenseStrides(in);
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) offset += (*at)[d] * strides[d];
  return offset;
}

std::optional<int64_t> StridedOffset(const Node& node, absl::Span<const TensorSpec> inputs) {
  for (int i = 1; i <= 3; ++i) {
    if (inputs[static_cast<size_t>(i)].value == nullptr) return std::nullopt;
  }
  const Tensor& begin = *inputs[1].value;
  const auto spec = MakeSliceSpec(AttrReader(node), inputs[0].shape, begin.num_elements(), &begin,
                                  inputs[2].value, inputs[3].value);
  if (!spec.ok()) return std::nullopt;
  for (const SliceSpec::Range& range : spec->ranges) {
    if (range.stride != 1 && range.size != 1) return std::nullopt;
  }
  const SliceSpec::Region region = spec->RegionOf(inputs[0].shape);
  if (!IsContiguous(region.taken, inputs[0].shape)) return std::nullopt;
  return region.offset;
}

// The outputs follow each other along `axis`; the dimensions before it have size 1.
std::optional<SliceView> Pieces(size_t input, const TensorSpec& in, int64_t axis_value,
                                absl::Span<const TensorSpec> outputs) {
  const auto axis = NormalizeAxis(axis_value, in.shape.rank());
  if (!axis.ok() || Product(in.shape, 0, *axis) != 1) return std::nullopt;
  SliceView view{input, {}};
  size_t offset = 0;
  for (const TensorSpec& out : outputs) {
    view.offsets.push_back(offset);
    offset += static_cast<size_t>(out.shape.num_elements()) * SizeOf(in.dtype);
  }
  return view;
}

// Whether a transpose moves only dimensions of size 1.
bool KeepsOrder(const TensorSpec& in, const TensorSpec& perm) {
  if (perm.value == nullptr || !in.shape.IsComplete()) return false;
  const auto axes = ReadPermutation(*perm.value, in.shape.rank());
  if (!axes.ok()) return false;
  int64_t last = -1;
  for (const int64_t axis : *axes) {
    if (in.shape.dim(static_cast<int>(axis)) == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

bool IsWholeInput(const OpRow& row, absl::Span<const TensorSpec> inputs) {
  if (row.alias) return true;
  // Where its part begins is also checked by the kernel, if it is not known before.
  if (row.alias_if_same_size) return inputs.size() > 1 && inputs[1].value != nullptr;
  // op names: the permutation tells.
  return absl::string_view(row.name) == "Transpose" && KeepsOrder(inputs[0], inputs[1]);
}

std::optional<SliceView> SliceViewOf(const OpRow& row, const Node& node,
                                     absl::Span<const TensorSpec> inputs,
                                     absl::Span<const TensorSpec> outputs) {
  if (!row.moves_elements || outputs.empty()) return std::nullopt;
  const DType dtype = outputs[0].dtype;
  if (dtype == DType::kString || HoldsObjects(dtype)) return std::nullopt;
  for (const TensorSpec& out : outputs) {
    if (!out.shape.IsComplete() || out.shape.num_elements() == 0) return std::nullopt;
  }
  const absl::string_view op = row.name;
  const size_t from = op == "Split" ? 1 : 0;
  if (inputs.size() <= from || !inputs[from].shape.IsComplete() || inputs[from].dtype != dtype) {
    return std::nullopt;
  }
  const Shape& in = inputs[from].shape;
  std::optional<int64_t> offset;
  // op names: each states its part of the input in another way.
  if (op == "Slice" && inputs[1].value != nullptr) {
    offset = SliceOffset(in, *inputs[1].value, outputs[0].shape);
  } else if (op == "StridedSlice") {
    offset = StridedOffset(node, inputs);
  } else if (op == "Unpack") {
    return Pieces(from, inputs[from], AttrReader(node).Int("axis", 0), outputs);
  } else if ((op == "Split" || op == "SplitV") && inputs[op == "Split" ? 0 : 2].value != nullptr) {
    const auto axis = ScalarInteger(*inputs[op == "Split" ? 0 : 2].value, "split_dim");
    if (!axis.ok()) return std::nullopt;
    return Pieces(from, inputs[from], *axis, outputs);
  }
  if (!offset.has_value()) return std::nullopt;
  return SliceView{from, {static_cast<size_t>(*offset) * SizeOf(dtype)}};
}

}  // namespace tenon
