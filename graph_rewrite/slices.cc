#include "graph_rewrite/slices.h"

#include <utility>
#include <vector>

#include "graph_rewrite/elements.h"

namespace tenon {
namespace {

int64_t IntAttr(const Node& n, const char* name) {
  const int64_t* v = n.attr<int64_t>(name);
  return v == nullptr ? 0 : *v;
}

std::optional<IndexedAxis> OfStridedSlice(RuleContext& context, const Node& n) {
  const std::vector<int64_t> begin = ConstantIntegers(context, n.inputs[1]);
  const std::vector<int64_t> strides = ConstantIntegers(context, n.inputs[3]);
  const int64_t shrinks = IntAttr(n, "shrink_axis_mask"), ellipsis = IntAttr(n, "ellipsis_mask");
  const int64_t whole = IntAttr(n, "begin_mask") & IntAttr(n, "end_mask");
  if (IntAttr(n, "new_axis_mask") != 0 || begin.empty() || begin.size() != strides.size()) {
    return std::nullopt;
  }
  const Shape& shape = context.shapes.shape(n.inputs[0]);
  IndexedAxis found = {.source = n.inputs[0], .axis = -1};
  int axis = 0;  // of entry i
  for (size_t i = 0; i < begin.size(); ++i, ++axis) {
    if ((ellipsis >> i & 1) != 0) {
      if (!shape.has_rank()) return std::nullopt;
      axis += shape.rank() - static_cast<int>(begin.size());
      continue;
    }
    if (strides[i] != 1) return std::nullopt;
    if ((shrinks >> i & 1) != 0) {
      if (found.axis >= 0) return std::nullopt;
      found.axis = axis;
      found.index = begin[i];
    } else if ((whole >> i & 1) == 0) {
      return std::nullopt;
    }
  }
  if (found.axis >= 0 && found.index < 0 && found.axis < shape.rank() &&
      shape.dim(found.axis) > 0) {
    found.index += shape.dim(found.axis);
  }
  if (found.axis < 0 || found.index < 0) return std::nullopt;
  return found;
}

}  // namespace

std::optional<IndexedAxis> FindIndexedAxis(RuleContext& context, Endpoint e) {
  const Node& n = context.Candidate(e);
  if (n.op == "StridedSlice" && e.port == 0) return OfStridedSlice(context, n);
  if (n.op != "Unpack") return std::nullopt;
  int64_t axis = IntAttr(n, "axis");
  if (axis < 0) {
    const Shape& shape = context.shapes.shape(n.inputs[0]);
    if (!shape.has_rank()) return std::nullopt;
    axis += shape.rank();
  }
  if (axis < 0) return std::nullopt;
  return IndexedAxis{n.inputs[0], static_cast<int>(axis), e.port};
}

Endpoint AddIndexedAxis(RuleContext& context, const IndexedAxis& of) {
  const std::string name = context.node(of.source).name + "/index";
  const int64_t before = (int64_t{1} << of.axis) - 1;  // the axes before it, whole
  std::vector<int64_t> begin(static_cast<size_t>(of.axis), 0), end = begin, strides = begin;
  begin.push_back(of.index);
  end.push_back(of.index + 1);
  strides.assign(begin.size(), 1);
  Node slice;
  slice.name = name;
  slice.op = "StridedSlice";
  slice.inputs = {of.source};
  for (std::vector<int64_t>* bound : {&begin, &end, &strides}) {
    const NodeId c = context.AddConst(name, Tensor::Vector<int64_t>(std::move(*bound)));
    slice.inputs.push_back({c, 0});
  }
  slice.attrs["T"] = context.shapes.dtype(of.source);
  slice.attrs["Index"] = DType::kInt64;
  slice.attrs["begin_mask"] = before;
  slice.attrs["end_mask"] = before;
  slice.attrs["ellipsis_mask"] = int64_t{0};
  slice.attrs["new_axis_mask"] = int64_t{0};
  slice.attrs["shrink_axis_mask"] = before + 1;
  return {context.rw.AddNode(std::move(slice)), 0};
}

}  // namespace tenon
