// Heads of attention that are repeated, or joined with the batch, around it.
#include <optional>

#include "graph_rewrite/attention.h"
#include "graph_rewrite/elements.h"

namespace tenon {
namespace {

constexpr int kMostAddedAxes = 4;

// Whether at most one dimension is not known, apart from those whose labels are `shared` with other
// operands, which state them: the number of elements then decides it.
bool Decided(const Shape& shape, const std::string& labels, const std::string& shared) {
  int unknown = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    unknown += shape.dim(i) < 0 && shared.find(labels[static_cast<size_t>(i)]) == shared.npos;
  }
  return unknown <= 1;
}

bool Agree(int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; }

// Whether the sizes are known and equal.
bool Same(int64_t a, int64_t b) { return a >= 0 && a == b; }

// A tensor with axes of size 1 added: for each axis, the axis of `base` that it is, or -1.
struct AddedAxes {
  Endpoint base;
  std::vector<int> axes;
};

// The axis that a Reshape adds to a tensor of shape `from`; -1: none. At most one of the other
// dimensions may not be known to be the same: the number of elements then decides it.
int AxisOfReshape(const Shape& from, const Shape& to) {
  if (to.rank() != from.rank() + 1) return -1;
  for (int added = to.rank() - 1; added >= 0; --added) {
    bool agree = to.dim(added) == 1;
    int open = 0;
    for (int i = 0; i < from.rank(); ++i) {
      const int64_t a = from.dim(i), b = to.dim(i < added ? i : i + 1);
      agree = agree && Agree(a, b);
      open += !Same(a, b);
    }
    if (agree && open <= 1) return added;
  }
  return -1;
}

// What `e` is of a tensor of rank `rank`, by ExpandDims or Reshape.
std::optional<AddedAxes> FindAddedAxes(RuleContext& context, Endpoint e, int rank) {
  std::vector<int> added;  // the last one first
  while (context.shapes.rank(e) > rank && static_cast<int>(added.size()) < kMostAddedAxes) {
    const Node& n = context.Candidate(e);
    int axis = -1;
    if (n.op == "ExpandDims") {
      const std::vector<int64_t> axes = ConstantIntegers(context, n.inputs[1]);
      if (axes.size() != 1) return std::nullopt;
      axis = static_cast<int>(axes[0] < 0 ? axes[0] + context.shapes.rank(e) : axes[0]);
    } else if (n.op == "Reshape") {
      axis = AxisOfReshape(context.shapes.shape(n.inputs[0]), context.shapes.shape(e));
    }
    if (axis < 0 || axis >= context.shapes.rank(e)) return std::nullopt;
    added.push_back(axis);
    e = n.inputs[0];
  }
  if (context.shapes.rank(e) != rank || added.empty()) return std::nullopt;
  AddedAxes found{e, {}};
  for (int i = 0; i < rank; ++i) found.axes.push_back(i);
  for (size_t i = added.size(); i-- > 0;) {
    found.axes.insert(found.axes.begin() + added[i], -1);
  }
  return found;
}

// What follows from one operand, or from the result: `joined` is `split` with batch and heads
// joined in the dimension labeled `c`. The number of heads; 0 if it is not so.
int64_t HeadsJoined(RuleContext& context, Endpoint split, Endpoint joined,
                    const std::string& labels, char c) {
  const size_t axis = labels.find(c);
  if (axis == labels.npos) return 0;
  const Shape& shape = context.shapes.shape(split);
  if (shape.rank() != static_cast<int>(labels.size()) + 1) return 0;
  const int64_t heads = shape.dim(static_cast<int>(axis) + 1);
  if (heads <= 0 || !context.shapes.Joins(split, joined, static_cast<int>(axis))) return 0;
  return heads;
}

}  // namespace

bool AbsorbRepeats(RuleContext& context, const Node& join, const LabeledInput& q,
                   const std::string& stated, LabeledInput& x, char& label) {
  if (join.op != "Reshape" || x.e.port != 0) return false;
  const Node& tile = context.Candidate(join.inputs[0]);
  if (tile.op != "Tile") return false;
  const int rank = static_cast<int>(x.labels.size());
  const auto added = FindAddedAxes(context, tile.inputs[0], rank);
  if (!added.has_value()) return false;
  const Shape from = context.shapes.shape(added->base), to = context.shapes.shape(x.e);
  if (to.rank() != rank || !Decided(to, x.labels, stated)) return false;
  const std::vector<int64_t> multiples = ConstantIntegers(context, tile.inputs[1]);
  if (multiples.size() != added->axes.size()) return false;
  int axis = -1, before = -1;  // of the heads; the last one so far that is not added
  int64_t times = 1;
  for (size_t i = 0; i < multiples.size(); ++i) {
    if (added->axes[i] >= 0) before = added->axes[i];
    if (multiples[i] == 1) continue;
    if (axis >= 0 || added->axes[i] >= 0 || before < 0) return false;
    axis = before;
    times = multiples[i];
  }
  if (axis < 0 || from.dim(axis) <= 0) return false;
  const char c = x.labels[static_cast<size_t>(axis)];
  int64_t heads = to.dim(axis);
  if (heads < 0) {
    const size_t at = q.labels.find(c);
    const Shape queries = context.shapes.shape(q.e);
    if (at == q.labels.npos || queries.rank() != static_cast<int>(q.labels.size())) return false;
    heads = queries.dim(static_cast<int>(at));
  }
  if (heads != times * from.dim(axis)) return false;
  // A size that only the Reshape states may be another one, unless the number of elements decides.
  int open = 0;
  bool stated_by_reshape = false;
  for (int i = 0; i < rank; ++i) {
    if (i == axis) continue;
    if (!Agree(to.dim(i), from.dim(i))) return false;
    open += !Same(to.dim(i), from.dim(i));
    stated_by_reshape = stated_by_reshape || (from.dim(i) < 0 && to.dim(i) >= 0);
  }
  if (stated_by_reshape && open > 1) return false;
  if (label != 0 && label != c) return false;
  label = c;
  x.e = added->base;
  return true;
}

void SplitHeads(RuleContext& context, AttentionForm& f) {
  if (f.next > 'z' || f.scores.empty() || !f.repeated.empty()) return;
  const char c = f.scores[0], batch = f.next;
  int64_t heads = f.windows;
  const auto agrees = [&](int64_t found) {
    if (heads == 0) heads = found;
    return found > 0 && heads == found;
  };
  std::array<Endpoint, 3> before;
  std::vector<LabeledShape> freed;
  for (size_t i = 0; i < 3; ++i) {
    const LabeledInput& x = f.operands[i];
    const Node& join = context.Candidate(x.e);
    if (join.op != "Reshape") return;
    before[i] = join.inputs[0];
    AddFreedShapes(context, x, i, freed);
    if (!agrees(HeadsJoined(context, before[i], x.e, x.labels, c))) return;
  }
  // Masks are broadcast to batch and heads joined, unless they were added while these were split.
  if (f.windows == 0) {
    for (const std::vector<Endpoint>* inputs : {&f.masks, &f.conditions}) {
      for (Endpoint e : *inputs) {
        const Shape& shape = context.shapes.shape(e);
        if (shape.rank() == static_cast<int>(f.scores.size()) && shape.dim(0) != 1) return;
      }
    }
  }
  std::vector<NodeId> shapes;
  const NodeId reader = ReaderBesideShapes(context, f.result, shapes);
  if (reader == kNoNode || context.node(reader).op != "Reshape") return;
  if (context.node(reader).inputs[0] != Endpoint{f.result, 0} || !context.IsCandidate(reader) ||
      !agrees(HeadsJoined(context, {reader, 0}, {f.result, 0}, f.out, c))) {
    return;
  }
  // The shape of the result is computed from those of q, k and v, without masks.
  if (!shapes.empty() && !context.shapes.SameShape({f.weights, 0}, {f.product, 0})) return;
  for (NodeId shape : shapes) f.shapes.push_back({shape, f.out, {0, 1, 2}});
  f.shapes.insert(f.shapes.end(), freed.begin(), freed.end());
  const auto split = [&](std::string& labels) { labels.insert(labels.find(c), 1, batch); };
  for (size_t i = 0; i < 3; ++i) {
    f.operands[i].e = before[i];
    split(f.operands[i].labels);
  }
  split(f.scores);
  split(f.out);
  for (LabeledShape& shape : f.shapes) {
    split(shape.labels);
    shape.joined = batch;
  }
  ++f.next;
  f.result = reader;
  f.windows = 0;
}

void AddFreedShapes(RuleContext& context, const LabeledInput& x, size_t operand,
                    std::vector<LabeledShape>& shapes) {
  std::vector<NodeId> found;
  if (ReaderBesideShapes(context, x.e.node, found) == kNoNode) return;
  for (NodeId shape : found) shapes.push_back({shape, x.labels, {operand}});
}

NodeId ReaderBesideShapes(RuleContext& context, NodeId id, std::vector<NodeId>& shapes) {
  std::vector<NodeId> found;
  NodeId reader = kNoNode;
  for (const Use& use : context.rw.uses(id)) {
    const bool shape = !use.is_control() && context.node(use.reader).op == "Shape" &&
                       context.IsCandidate(use.reader) && !context.rw.IsKept(use.reader);
    if (shape) {
      found.push_back(use.reader);
    } else if (use.is_control() || reader != kNoNode) {
      return kNoNode;
    } else {
      reader = use.reader;
    }
  }
  if (found.empty()) return context.OnlyReader(id);
  if (reader == kNoNode || context.rw.IsKept(id) || context.EndsInvariance(id, reader)) {
    return kNoNode;
  }
  shapes.insert(shapes.end(), found.begin(), found.end());
  return reader;
}

}  // namespace tenon
