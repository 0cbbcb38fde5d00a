#include "graph_rewrite/dims.h"

#include <algorithm>
#include <string>
#include <vector>

#include "graph_rewrite/elements.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int kMostHops = 64;

Dimension Trace(RuleContext& context, Endpoint tensor, int axis, int hops);

Dimension Element(RuleContext& context, Endpoint vector, int64_t index, int hops);

// -1 if not known.
int64_t LengthOf(RuleContext& context, Endpoint vector) {
  const Shape& s = context.shapes.shape(vector);
  return s.has_rank() && s.rank() == 1 ? s.dim(0) : -1;
}

// The only element of a tensor that has one.
Dimension OnlyElement(RuleContext& context, Endpoint tensor, int hops) {
  const int rank = context.shapes.rank(tensor);
  if (rank == 0) return Element(context, tensor, -1, hops);
  return LengthOf(context, tensor) == 1 ? Element(context, tensor, 0, hops) : Dimension();
}

// Element `index` of the part [begin:end] of a vector.
Dimension SlicedElement(RuleContext& context, const Node& slice, int64_t index, int hops) {
  for (const char* mask : {"shrink_axis_mask", "ellipsis_mask", "new_axis_mask"}) {
    const int64_t* bits = slice.attr<int64_t>(mask);
    if (bits == nullptr || *bits != 0) return {};
  }
  const std::vector<int64_t> begin = ConstantIntegers(context, slice.inputs[1]);
  const std::vector<int64_t> step = ConstantIntegers(context, slice.inputs[3]);
  if (begin.size() != 1 || step.size() != 1 || step[0] != 1) return {};
  const int64_t* from_start = slice.attr<int64_t>("begin_mask");
  int64_t first = from_start != nullptr && *from_start == 1 ? 0 : begin[0];
  const int64_t length = LengthOf(context, slice.inputs[0]);
  if (first < 0 && length < 0) return {};
  if (first < 0) first = std::max<int64_t>(first + length, 0);
  return Element(context, slice.inputs[0], first + index, hops);
}

// Element `index` of an integer vector; of a scalar if -1.
Dimension Element(RuleContext& context, Endpoint vector, int64_t index, int hops) {
  if (hops > kMostHops) return {};
  const int rank = context.shapes.rank(vector);
  if (rank >= 0 && rank != (index < 0 ? 0 : 1)) return {};
  const Node& n = context.node(vector);
  if (n.op == "Const") {
    const std::vector<int64_t> values = ConstantIntegers(context, vector);
    const size_t at = index < 0 ? 0 : static_cast<size_t>(index);
    if (at >= values.size() || values[at] < 0) return {};
    return {.value = values[at]};
  }
  if (n.inputs.empty()) return {};
  if (n.op == "Identity" || n.op == "Cast") return Element(context, n.inputs[0], index, hops + 1);
  if (index >= 0) {
    if (n.op == "Shape") return Trace(context, n.inputs[0], static_cast<int>(index), hops + 1);
    if (n.op == "Pack" && static_cast<size_t>(index) < n.inputs.size()) {
      return Element(context, n.inputs[static_cast<size_t>(index)], -1, hops + 1);
    }
    if (n.op == "ConcatV2") {
      for (size_t i = 0; i + 1 < n.inputs.size(); ++i) {
        const int64_t length = LengthOf(context, n.inputs[i]);
        if (length < 0) return {};
        if (index < length) return Element(context, n.inputs[i], index, hops + 1);
        index -= length;
      }
      return {};
    }
    if (n.op == "ExpandDims" && index == 0) return Element(context, n.inputs[0], -1, hops + 1);
    if (n.op == "StridedSlice") return SlicedElement(context, n, index, hops + 1);
    if (n.op == "Reshape" && index == 0) return OnlyElement(context, n.inputs[0], hops + 1);
    return {};
  }
  if (n.op == "Minimum") {
    // min(x, max(y, x)) is x. Both operands are followed, so not far.
    for (size_t i : {0, 1}) {
      const Dimension x = Element(context, n.inputs[i], -1, hops + kMostHops / 4);
      const Node& other = context.node(n.inputs[1 - i]);
      if (!x.known() || other.op != "Maximum") continue;
      for (const Endpoint& e : other.inputs) {
        if (Element(context, e, -1, hops + kMostHops / 4) == x) return x;
      }
    }
    return {};
  }
  if (n.op == "Mul") {
    // Both operands are followed, so not far.
    const Dimension a = Element(context, n.inputs[0], -1, hops + kMostHops / 4);
    const Dimension b = Element(context, n.inputs[1], -1, hops + kMostHops / 4);
    int64_t product = 0;
    if (a.value < 0 || b.value < 0) return {};
    if (__builtin_mul_overflow(a.value, b.value, &product)) return {};
    return {.value = product};
  }
  if (n.op == "Squeeze") return Element(context, n.inputs[0], 0, hops + 1);
  if (n.op == "Reshape") return OnlyElement(context, n.inputs[0], hops + 1);
  if (n.op == "StridedSlice") {
    const int64_t* shrink = n.attr<int64_t>("shrink_axis_mask");
    const std::vector<int64_t> begin = ConstantIntegers(context, n.inputs[1]);
    if (shrink == nullptr || *shrink != 1 || begin.size() != 1) return {};
    int64_t at = begin[0];
    if (at < 0) {
      const int64_t length = LengthOf(context, n.inputs[0]);
      if (length < 0) return {};
      at += length;
    }
    return at < 0 ? Dimension() : Element(context, n.inputs[0], at, hops + 1);
  }
  return {};
}

Dimension Trace(RuleContext& context, Endpoint tensor, int axis, int hops) {
  if (hops > kMostHops) return {};
  const Shape& shape = context.shapes.shape(tensor);
  if (shape.has_rank()) {
    if (axis >= shape.rank()) return {};
    if (shape.dim(axis) >= 0) return {.value = shape.dim(axis)};
  }
  const Node& n = context.node(tensor);
  const Dimension here = {.source = tensor, .axis = axis};
  if (n.inputs.empty() || tensor.port != 0) return here;
  Dimension from;
  if (n.op == "Transpose") {
    const std::vector<int64_t> order = ConstantIntegers(context, n.inputs[1]);
    const size_t at = static_cast<size_t>(axis);
    const auto rank = static_cast<int64_t>(order.size());
    if (at < order.size() && order[at] >= -rank && order[at] < rank) {
      const int64_t to = order[at] < 0 ? order[at] + rank : order[at];
      from = Trace(context, n.inputs[0], static_cast<int>(to), hops + 1);
    }
    // op names: ops that keep the sizes of input 0
  } else if (n.op == "ReverseV2" || n.op == "ReverseSequence" || n.op == "Identity" ||
             (n.inputs.size() == 1 && FactsOf(n.op).elementwise)) {
    from = Trace(context, n.inputs[0], axis, hops + 1);
  } else if (n.op == "Fill") {
    from = Element(context, n.inputs[0], axis, hops + 1);
  } else if (n.op == "_Recurrence" && axis < 2) {
    const bool* x_major = n.attr<bool>("time_major");
    const bool* y_major = n.attr<bool>("y_time_major");
    const bool* last = n.attr<bool>("last_only");
    const bool* longer = n.attr<bool>("longer_mask");
    const bool is_steps = y_major != nullptr && axis == (*y_major ? 0 : 1);
    if (x_major != nullptr && y_major != nullptr && last != nullptr && !*last &&
        !(is_steps && longer != nullptr && *longer)) {
      from = Trace(context, n.inputs[0], *x_major == *y_major ? axis : 1 - axis, hops + 1);
    }
  } else if (n.op == "BatchMatMulV2" || n.op == "BiasAdd") {
    // The leading dimensions of a tensor times a matrix, or plus a vector.
    const Shape& a = context.shapes.shape(n.inputs[0]);
    const Shape& b = context.shapes.shape(n.inputs[1]);
    const bool* adjoint = n.attr<bool>("adj_x");
    const bool swapped = adjoint != nullptr && *adjoint && axis + 2 == a.rank();
    if (a.has_rank() && b.has_rank() && b.rank() <= 2 && axis + 1 < a.rank()) {
      from = Trace(context, n.inputs[0], swapped ? axis + 1 : axis, hops + 1);
    }
  }
  return from.known() ? from : here;
}

}  // namespace

Dimension DimensionOf(RuleContext& context, Endpoint tensor, int axis) {
  return Trace(context, tensor, axis, 0);
}

Dimension ElementDimension(RuleContext& context, Endpoint vector, int64_t index) {
  return Element(context, vector, index, 0);
}

Dimension ScalarDimension(RuleContext& context, Endpoint scalar) {
  return Element(context, scalar, -1, 0);
}

}  // namespace tenon
