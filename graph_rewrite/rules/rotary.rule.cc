// Rotary position embedding, with h = size of the last axis / 2 and the halves a, b of x,
//
//   concat(a * cos - b * sin, b * cos + a * sin)          cos and sin have h elements
//   x * cos + concat(-b, a) * sin                         or all of the last axis
//
// as people, KerasHub (which stacks -b and a before the last axis, and reshapes) and Hugging Face's
// transformers write it; GPT-J stacks them after the last axis, where a and b are the elements at
// even and at odd places.
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "graph_rewrite/attention.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// Half `which` (0 or 1) of x along its last axis.
struct HalfRow {
  Endpoint x;
  int which = -1;
};

int64_t MaskAttr(const Node& n, const char* name) {
  const int64_t* v = n.attr<int64_t>(name);
  return v == nullptr ? 0 : *v;
}

// A StridedSlice of the last axis alone, with the bounds of an axis of `size` elements where they
// are left out.
struct LastAxisSlice {
  int64_t begin = 0, end = 0, stride = 1;
};

std::optional<LastAxisSlice> FindLastAxisSlice(RuleContext& context, const Node& n, int rank,
                                               int64_t size) {
  const std::vector<int64_t> begin = ConstantIntegers(context, n.inputs[1]);
  const std::vector<int64_t> end = ConstantIntegers(context, n.inputs[2]);
  const std::vector<int64_t> strides = ConstantIntegers(context, n.inputs[3]);
  const int64_t begins = MaskAttr(n, "begin_mask"), ends = MaskAttr(n, "end_mask");
  const int64_t ellipsis = MaskAttr(n, "ellipsis_mask");
  if (MaskAttr(n, "new_axis_mask") != 0 || MaskAttr(n, "shrink_axis_mask") != 0) {
    return std::nullopt;
  }
  if (begin.empty() || begin.size() != end.size() || begin.size() != strides.size()) {
    return std::nullopt;
  }
  const size_t last = begin.size() - 1;
  if (ellipsis == 0 && static_cast<int>(begin.size()) != rank) return std::nullopt;
  if ((ellipsis >> last & 1) != 0) return std::nullopt;
  for (size_t i = 0; i < last; ++i) {
    const bool whole = ((begins & ends) >> i & 1) != 0 || (ellipsis >> i & 1) != 0;
    if (!whole || strides[i] != 1) return std::nullopt;
  }
  return LastAxisSlice{(begins >> last & 1) != 0 ? 0 : begin[last],
                       (ends >> last & 1) != 0 ? size : end[last], strides[last]};
}

// The first or the second half by a StridedSlice of the last axis alone, of `rank` axes of which
// the last has `size` elements; -1: neither.
int HalfOfStridedSlice(RuleContext& context, const Node& n, int rank, int64_t size) {
  const auto slice = FindLastAxisSlice(context, n, rank, size);
  if (!slice.has_value() || slice->stride != 1) return -1;
  const auto bound = [size](int64_t v) { return v < 0 ? v + size : v; };
  const int64_t from = bound(slice->begin), to = bound(slice->end);
  if (from == 0 && to == size / 2) return 0;
  return from == size / 2 && to >= size ? 1 : -1;
}

// Every second element along the last axis alone, of `rank` axes of which the last has an even
// `size`, by a StridedSlice from the first (0) or from the second one (1) on; -1: neither.
int EveryOtherOfStridedSlice(RuleContext& context, const Node& n, int rank, int64_t size) {
  const auto slice = FindLastAxisSlice(context, n, rank, size);
  if (!slice.has_value() || slice->stride != 2 || slice->end < size) return -1;
  return slice->begin == 0 || slice->begin == 1 ? static_cast<int>(slice->begin) : -1;
}

// The elements of x at even (0) or at odd (1) places along its last axis.
std::optional<HalfRow> FindEveryOther(RuleContext& context, Endpoint e) {
  const Node& n = context.Candidate(e);
  if (n.op != "StridedSlice") return std::nullopt;
  const Endpoint x = n.inputs[0];
  const Shape& shape = context.shapes.shape(x);
  if (!shape.has_rank() || shape.rank() == 0) return std::nullopt;
  const int64_t size = shape.dim(shape.rank() - 1);
  if (size <= 0 || size % 2 != 0) return std::nullopt;
  const int which = EveryOtherOfStridedSlice(context, n, shape.rank(), size);
  return which < 0 ? std::nullopt : std::optional<HalfRow>({x, which});
}

std::optional<HalfRow> FindHalfRow(RuleContext& context, Endpoint e) {
  const Node& n = context.Candidate(e);
  const bool split = n.op == "Split", splits = n.op == "SplitV";
  if (!split && !splits && n.op != "StridedSlice") return std::nullopt;
  const Endpoint x = n.inputs[split ? 1 : 0];
  const Shape& shape = context.shapes.shape(x);
  if (!shape.has_rank() || shape.rank() == 0) return std::nullopt;
  const int64_t size = shape.dim(shape.rank() - 1);
  if (size <= 0 || size % 2 != 0) return std::nullopt;
  int which = e.port;
  if (split || splits) {
    const std::vector<int64_t> axis = ConstantIntegers(context, n.inputs[split ? 0 : 2]);
    if (axis.size() != 1 || (axis[0] != -1 && axis[0] != shape.rank() - 1)) return std::nullopt;
    if (split && MaskAttr(n, "num_split") != 2) return std::nullopt;
    if (splits) {
      const std::vector<int64_t> sizes = ConstantIntegers(context, n.inputs[1]);
      if (sizes.size() != 2 || (sizes[0] != size / 2 && sizes[1] != size / 2)) return std::nullopt;
    }
  } else {
    which = HalfOfStridedSlice(context, n, shape.rank(), size);
  }
  if (which != 0 && which != 1) return std::nullopt;
  return HalfRow{x, which};
}

// A product of a half of x and something shaped as the half, or broadcast to it.
struct HalfProduct {
  HalfRow half;
  Endpoint factor;
};

std::optional<HalfProduct> FindHalfProduct(RuleContext& context, Endpoint e, NodeId reader) {
  const Node& n = context.Candidate(e);
  if (n.op != "Mul" || !context.HasOnlyReader(n.id, reader)) return std::nullopt;
  for (size_t slot : {0, 1}) {
    const std::optional<HalfRow> half = FindHalfRow(context, n.inputs[slot]);
    if (half.has_value() && context.shapes.SameShape(n.inputs[slot], {n.id, 0})) {
      return HalfProduct{*half, n.inputs[1 - slot]};
    }
  }
  return std::nullopt;
}

// cos and sin must have as many elements along the last axis as each half of x, or as x.
absl::Status CheckAngles(RuleContext& context, Endpoint x, Endpoint cos, Endpoint sin, bool whole) {
  const Shape& shape = context.shapes.shape(x);
  const int64_t size = shape.dim(shape.rank() - 1);
  for (Endpoint e : {cos, sin}) {
    // Of the same shape but for the last dimension: the size is known at least for all inputs.
    if (!context.shapes.SameShapeButLast(e, e, whole ? size : size / 2)) {
      return WhyNot("cos and sin are not known to have the size of the last axis, or half of it");
    }
  }
  return absl::OkStatus();
}

// How the elements of a row make pairs.
enum class Pairs { kNone, kHalves, kNeighbors };

Outcome Rotate(RuleContext& context, NodeId id, Endpoint x, Endpoint cos, Endpoint sin, bool whole,
               Pairs pairs) {
  if (const absl::Status s = CheckAngles(context, x, cos, sin, whole); !s.ok()) {
    return Outcome::Skip(4, std::string(s.message()), id);
  }
  const auto inputs = context.node(id).inputs;
  Node made;
  made.name = context.node(id).name;
  made.op = "_Rotary";
  made.device = context.node(id).device;
  made.inputs = {x, cos, sin};
  made.attrs["T"] = context.shapes.dtype(x);
  made.attrs["interleaved"] = pairs == Pairs::kNeighbors;
  const auto added = context.AddNode(std::move(made));
  if (!added.ok()) return Outcome::Skip(4, std::string(added.status().message()), id);
  context.rw.ReplaceNode(id, {*added, 0});
  for (const Endpoint& e : inputs) context.RemoveIfDead(e.node);
  return Outcome::Fired();
}

// concat(a * cos - b * sin, b * cos + a * sin)
Outcome FuseRotaryHalves(RuleContext& context, NodeId id) {
  const Node& concat = context.node(id);
  if (concat.inputs.size() != 3) return Outcome::NotMine();
  const Node& first = context.Candidate(concat.inputs[0]);
  const Node& second = context.Candidate(concat.inputs[1]);
  if (first.op != "Sub" || second.op != "AddV2") return Outcome::NotMine();
  if (!IsLast(context, concat.inputs[2], context.shapes.rank({id, 0}))) {
    return Outcome::Skip(1, "the results are not joined along the last axis", id);
  }
  if (!context.HasOnlyReader(first.id, id) || !context.HasOnlyReader(second.id, id)) {
    return Outcome::Skip(1, "a half of the result has other readers", id);
  }
  const auto ac = FindHalfProduct(context, first.inputs[0], first.id);
  const auto bs = FindHalfProduct(context, first.inputs[1], first.id);
  auto bc = FindHalfProduct(context, second.inputs[0], second.id);
  auto as = FindHalfProduct(context, second.inputs[1], second.id);
  if (!ac.has_value() || !bs.has_value() || !bc.has_value() || !as.has_value()) {
    return Outcome::Skip(1, "its operands are not products of halves of a tensor", id);
  }
  if (bc->half.which == 0) std::swap(bc, as);
  const Endpoint x = ac->half.x;
  if (bs->half.x != x || bc->half.x != x || as->half.x != x || ac->half.which != 0 ||
      bs->half.which != 1 || bc->half.which != 1 || as->half.which != 0) {
    return Outcome::Skip(2, "its operands are not the two halves of one tensor", id);
  }
  if (ac->factor != bc->factor || bs->factor != as->factor) {
    return Outcome::Skip(3, "the halves are rotated by different angles", id);
  }
  return Rotate(context, id, x, ac->factor, bs->factor, false, Pairs::kHalves);
}

// Whether only `reader` reads the node, apart from Shape nodes: models reshape to what these say.
bool IsReadBeside(RuleContext& context, NodeId id, NodeId reader) {
  std::vector<NodeId> shapes;
  return ReaderBesideShapes(context, id, shapes) == reader || context.HasOnlyReader(id, reader);
}

// Of which pairs a and b are, if e is concat(-b, a) and read by `reader` alone.
Pairs FindTurned(RuleContext& context, Endpoint e, NodeId reader, Endpoint x) {
  Pairs pairs = Pairs::kHalves;
  const Node* joined = &context.Candidate(e);
  if (joined->op.empty() || !IsReadBeside(context, joined->id, reader)) return Pairs::kNone;
  if (joined->op == "Reshape") {  // of a stack: the same elements in the same order
    if (!context.shapes.SameShape({joined->id, 0}, x)) return Pairs::kNone;
    const NodeId reshape = joined->id;
    joined = &context.Candidate(joined->inputs[0]);
    const int64_t* axis = joined->attr<int64_t>("axis");
    const int rank = context.shapes.rank(x);
    if (joined->op != "Pack" || joined->inputs.size() != 2 || axis == nullptr ||
        !IsReadBeside(context, joined->id, reshape)) {
      return Pairs::kNone;
    }
    if (*axis == -1 || *axis == rank) {
      pairs = Pairs::kNeighbors;
    } else if (*axis != -2 && *axis != rank - 1) {
      return Pairs::kNone;
    }
  } else if (joined->op != "ConcatV2" || joined->inputs.size() != 3 ||
             !IsLast(context, joined->inputs[2], context.shapes.rank(x))) {
    return Pairs::kNone;
  }
  const Node& negated = context.Candidate(joined->inputs[0]);
  if (negated.op != "Neg" || !context.HasOnlyReader(negated.id, joined->id)) return Pairs::kNone;
  const auto find = pairs == Pairs::kNeighbors ? FindEveryOther : FindHalfRow;
  const auto b = find(context, negated.inputs[0]), a = find(context, joined->inputs[1]);
  const bool found =
      a.has_value() && b.has_value() && a->x == x && b->x == x && a->which == 0 && b->which == 1;
  return found ? pairs : Pairs::kNone;
}

// x * cos + concat(-b, a) * sin
Outcome FuseRotaryTurned(RuleContext& context, NodeId id) {
  const Node& sum = context.node(id);
  const std::array<const Node*, 2> products = {&context.Candidate(sum.inputs[0]),
                                               &context.Candidate(sum.inputs[1])};
  if (products[0]->op != "Mul" || products[1]->op != "Mul") return Outcome::NotMine();
  for (size_t turned : {1, 0}) {
    const Node &plain = *products[1 - turned], &other = *products[turned];
    for (size_t i : {0, 1}) {
      for (size_t k : {0, 1}) {
        const Endpoint x = plain.inputs[i];
        const Pairs pairs = FindTurned(context, other.inputs[k], other.id, x);
        if (pairs == Pairs::kNone) continue;
        if (!context.HasOnlyReader(plain.id, id) || !context.HasOnlyReader(other.id, id)) {
          return Outcome::Skip(2, "a product has other readers", id);
        }
        if (!context.shapes.SameShape(x, {id, 0})) {
          return Outcome::Skip(3, "the result is not shaped as the operand", id);
        }
        return Rotate(context, id, x, plain.inputs[1 - i], other.inputs[1 - k], true, pairs);
      }
    }
  }
  return Outcome::NotMine();
}

const RuleRegistration rotary_halves({
    .name = "FuseRotaryHalves",
    .doc = "concat(a * cos - b * sin, b * cos + a * sin), a and b the halves of the last axis",
    .phase = Phase::kFuse,
    .dtypes = "float half bfloat16",
    .anchors = "ConcatV2",
    .apply = FuseRotaryHalves,
});

const RuleRegistration rotary_turned({
    .name = "FuseRotaryTurned",
    .doc = "x * cos + concat(-b, a) * sin, a and b the halves of x along the last axis, or its "
           "elements at even and odd places",
    .phase = Phase::kFuse,
    .dtypes = "float half bfloat16",
    .anchors = "AddV2",
    .apply = FuseRotaryTurned,
});

}  // namespace
}  // namespace tenon
