// What attention absorbs of the ops around it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "graph_rewrite/attention.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/slices.h"

namespace tenon {
namespace {

constexpr int kMostMoves = 16;

// Empty: no permutation.
std::vector<size_t> Permutation(RuleContext& context, const Node& n, size_t rank) {
  std::vector<size_t> perm;
  if (n.op != "Transpose") return perm;
  std::vector<bool> seen(rank, false);
  const std::vector<int64_t> values = ConstantIntegers(context, n.inputs[1]);
  if (values.size() != rank) return perm;
  for (int64_t v : values) {
    if (v < 0 || v >= static_cast<int64_t>(rank) || seen[static_cast<size_t>(v)]) return {};
    seen[static_cast<size_t>(v)] = true;
    perm.push_back(static_cast<size_t>(v));
  }
  return perm;
}

bool AbsorbTranspose(RuleContext& context, const Node& n, LabeledInput& x) {
  const std::vector<size_t> perm = Permutation(context, n, x.labels.size());
  if (perm.empty()) return false;
  std::string labels = x.labels;
  for (size_t i = 0; i < perm.size(); ++i) labels[perm[i]] = x.labels[i];
  x = {n.inputs[0], labels};
  return true;
}

// One index of an axis: Unpack, or x[..., i, ...].
bool AbsorbIndex(RuleContext& context, LabeledInput& x) {
  const std::optional<IndexedAxis> part = FindIndexedAxis(context, x.e);
  if (!part.has_value() || part->index > 9) return false;
  const size_t axis = static_cast<size_t>(part->axis);
  if (axis > x.labels.size()) return false;
  x.labels.insert(axis, 1, static_cast<char>('0' + part->index));
  x.e = part->source;
  return true;
}

bool AbsorbScale(RuleContext& context, const Node& n, LabeledInput& x, float& scale) {
  if ((n.op != "Mul" && n.op != "RealDiv") || x.e.port != 0) return false;
  for (size_t slot = 0; slot < (n.op == "Mul" ? 2 : 1); ++slot) {
    const Tensor* t = context.Constant(n.inputs[1 - slot]);
    if (t == nullptr || t->num_elements() != 1 || !IsFloating(t->dtype()) ||
        t->shape().rank() > static_cast<int>(x.labels.size()) ||
        context.shapes.rank(n.inputs[slot]) != static_cast<int>(x.labels.size())) {
      continue;
    }
    const float value = static_cast<float>(FloatElement(*t, 0));
    const float factor = n.op == "Mul" ? value : 1 / value;
    if (factor == 0 || !std::isfinite(factor)) return false;
    scale *= factor;
    x.e = n.inputs[slot];
    return true;
  }
  return false;
}

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

// Heads of k or v that are repeated one after another: a new axis after that of the heads is
// tiled, and joined with it. `stated`: labels that other operands have, too.
bool AbsorbRepeats(RuleContext& context, const Node& join, const LabeledInput& q,
                   const std::string& stated, LabeledInput& x, char& label) {
  if (join.op != "Reshape" || x.e.port != 0) return false;
  const Node& tile = context.Candidate(join.inputs[0]);
  if (tile.op != "Tile") return false;
  const Node& expand = context.Candidate(tile.inputs[0]);
  if (expand.op != "ExpandDims" && expand.op != "Reshape") return false;
  const Endpoint base = expand.inputs[0];
  const int rank = static_cast<int>(x.labels.size());
  const Shape from = context.shapes.shape(base), to = context.shapes.shape(x.e);
  const Shape expanded = context.shapes.shape(tile.inputs[0]);
  if (from.rank() != rank || to.rank() != rank || expanded.rank() != rank + 1) return false;
  if (!Decided(to, x.labels, stated)) return false;
  if (expand.op == "Reshape" && !Decided(expanded, x.labels + x.labels, "")) return false;
  const std::vector<int64_t> multiples = ConstantIntegers(context, tile.inputs[1]);
  if (static_cast<int>(multiples.size()) != rank + 1) return false;
  int axis = -1;  // of the heads
  for (int i = 0; i <= rank; ++i) {
    if (multiples[static_cast<size_t>(i)] == 1) continue;
    if (axis >= 0 || i == 0) return false;
    axis = i - 1;
  }
  if (axis < 0 || from.dim(axis) <= 0 || expanded.dim(axis + 1) != 1) return false;
  const char c = x.labels[static_cast<size_t>(axis)];
  int64_t heads = to.dim(axis);
  if (heads < 0) {
    const size_t at = q.labels.find(c);
    const Shape queries = context.shapes.shape(q.e);
    if (at == q.labels.npos || queries.rank() != static_cast<int>(q.labels.size())) return false;
    heads = queries.dim(static_cast<int>(at));
  }
  if (heads != multiples[static_cast<size_t>(axis + 1)] * from.dim(axis)) return false;
  for (int i = 0; i < rank; ++i) {
    if (!Agree(expanded.dim(i <= axis ? i : i + 1), from.dim(i))) return false;
    if (i != axis && !Agree(to.dim(i), from.dim(i))) return false;
  }
  if (label != 0 && label != c) return false;
  label = c;
  x.e = base;
  return true;
}

void AbsorbInto(RuleContext& context, LabeledInput& x, float* scale, char* repeated,
                const AttentionForm& f) {
  const std::string& scores = f.scores;
  for (int i = 0; i < kMostMoves; ++i) {
    const Node& n = context.Candidate(x.e);
    if (n.op.empty()) return;
    if (AbsorbTranspose(context, n, x) || AbsorbIndex(context, x)) continue;
    if (scale != nullptr && AbsorbScale(context, n, x, *scale)) continue;
    if (repeated != nullptr) {
      LabeledInput before = x;
      char label = *repeated;
      if (AbsorbRepeats(context, n, f.operands[0], f.operands[0].labels + scores.back(), before,
                        label) &&
          scores.find(label) != scores.npos && label != scores.back()) {
        x = before;
        *repeated = label;
        continue;
      }
    }
    return;
  }
}

// Size `axis` of the tensor, a scalar of dtype `type`.
Endpoint AddSize(RuleContext& context, Endpoint e, int axis, DType type) {
  const std::string name = context.node(e).name;
  Node shape;
  shape.name = name + "/shape";
  shape.op = "Shape";
  shape.inputs = {e};
  shape.attrs["T"] = context.shapes.dtype(e);
  shape.attrs["out_type"] = type;
  const auto bound = [&](int32_t v) -> Endpoint {
    return {context.AddConst(name + "/axis", Tensor::Vector<int32_t>({v})), 0};
  };
  Node size;
  size.name = name + "/size";
  size.op = "StridedSlice";
  size.inputs = {{*context.AddNode(std::move(shape)), 0}, bound(axis), bound(axis + 1), bound(1)};
  size.attrs["T"] = type;
  size.attrs["Index"] = DType::kInt32;
  size.attrs["shrink_axis_mask"] = int64_t{1};
  return {*context.AddNode(std::move(size)), 0};
}

// The size to which two sizes broadcast: b if a is 1, otherwise a.
Endpoint AddBroadcast(RuleContext& context, Endpoint a, Endpoint b, DType type) {
  const std::string name = context.node(a).name;
  const Tensor one =
      type == DType::kInt64 ? Tensor::Scalar<int64_t>(1) : Tensor::Scalar<int32_t>(1);
  Node equal;
  equal.name = name + "/is_one";
  equal.op = "Equal";
  equal.inputs = {a, {context.AddConst(name + "/one", one), 0}};
  equal.attrs["T"] = type;
  Node select;
  select.name = name + "/broadcast";
  select.op = "SelectV2";
  select.inputs = {{*context.AddNode(std::move(equal)), 0}, b, a};
  select.attrs["T"] = type;
  return {*context.AddNode(std::move(select)), 0};
}

// The dimensions for a tensor with its label `c` split into images and `windows`; 0 for `windows`:
// not split. Empty if another dimension is not known.
std::vector<int32_t> SplitDims(RuleContext& context, const Shape& shape, const std::string& labels,
                               char c, int64_t windows) {
  std::vector<int32_t> dims;
  if (shape.rank() != static_cast<int>(labels.size())) return {};
  for (int i = 0; i < shape.rank(); ++i) {
    if (labels[static_cast<size_t>(i)] == c) {
      dims.push_back(-1);
      if (windows > 0) dims.push_back(static_cast<int32_t>(windows));
    } else if (shape.dim(i) > 0) {
      dims.push_back(static_cast<int32_t>(shape.dim(i)));
    } else {
      return {};
    }
  }
  return dims;
}

}  // namespace

Endpoint AddReshape(RuleContext& context, Endpoint e, std::vector<int32_t> dims) {
  const std::string name = context.node(e).name;
  Node reshape;
  reshape.name = name + "/windows";
  reshape.op = "Reshape";
  reshape.inputs = {e, {context.AddConst(name + "/dims", Tensor::Vector<int32_t>(dims)), 0}};
  reshape.attrs["T"] = context.shapes.dtype(e);
  reshape.attrs["Tshape"] = DType::kInt32;
  return {*context.AddNode(std::move(reshape)), 0};
}

absl::Status SplitWindows(RuleContext& context, AttentionForm& f, std::vector<int32_t>& merged) {
  const char c = f.scores[0], images = f.next;
  if (images > 'z') return WhyNot("too many dimensions");
  std::array<std::vector<int32_t>, 3> dims;
  for (size_t i = 0; i < 3; ++i) {
    const LabeledInput& x = f.operands[i];
    dims[i] = SplitDims(context, context.shapes.shape(x.e), x.labels, c, f.windows);
    if (dims[i].size() != x.labels.size() + 1) {
      return WhyNot("the dimensions of windows in q, k or v are not known");
    }
  }
  merged = SplitDims(context, context.shapes.shape({f.result, 0}), f.out, c, 0);
  if (merged.size() != f.out.size()) return WhyNot("the dimensions of the result are not known");
  const auto split = [&](std::string& labels) {
    const size_t at = labels.find(c);
    if (at != std::string::npos) labels.insert(at, 1, images);
  };
  for (size_t i = 0; i < 3; ++i) {
    f.operands[i].e = AddReshape(context, f.operands[i].e, dims[i]);
    split(f.operands[i].labels);
  }
  split(f.scores);
  split(f.out);
  ++f.next;
  return absl::OkStatus();
}

void ReplaceShapes(RuleContext& context, const AttentionForm& f) {
  for (NodeId id : f.shapes) {
    const DType* type = context.node(id).attr<DType>("out_type");
    Node pack;
    pack.name = context.node(id).name;
    pack.op = "Pack";
    const DType out = type == nullptr ? DType::kInt32 : *type;
    for (char c : f.scores) {
      Endpoint size;
      for (const LabeledInput& x : f.factors) {
        const size_t axis = x.labels.find(c);
        if (axis == std::string::npos) continue;
        const Endpoint one = AddSize(context, x.e, static_cast<int>(axis), out);
        size = size.node == kNoNode ? one : AddBroadcast(context, size, one, out);
      }
      pack.inputs.push_back(size);
    }
    pack.attrs["T"] = out;
    pack.attrs["N"] = static_cast<int64_t>(f.scores.size());
    pack.attrs["axis"] = int64_t{0};
    context.rw.ReplaceNode(id, {*context.AddNode(std::move(pack)), 0});
  }
}

void AbsorbMoves(RuleContext& context, AttentionForm& f) {
  char repeated = f.repeated.empty() ? 0 : f.repeated[0];
  AbsorbInto(context, f.operands[0], &f.scale, nullptr, f);
  AbsorbInto(context, f.operands[1], &f.scale, &repeated, f);
  AbsorbInto(context, f.operands[2], nullptr, &repeated, f);
  if (repeated != 0) f.repeated = std::string(1, repeated);

  const NodeId reader = context.OnlyReader(f.result);
  if (reader == kNoNode || !context.IsCandidate(reader)) return;
  const std::vector<size_t> perm = Permutation(context, context.node(reader), f.out.size());
  // Rows of the result stay together.
  if (perm.empty() || perm.back() + 1 != perm.size()) return;
  std::string out;
  for (size_t p : perm) out += f.out[p];
  f.out = out;
  f.result = reader;
}

}  // namespace tenon
