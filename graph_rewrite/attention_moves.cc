// What attention absorbs of the ops around it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "graph_rewrite/attention.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/permutation.h"
#include "graph_rewrite/slices.h"

namespace tenon {
namespace {

constexpr int kMostMoves = 16;

// Empty: no permutation.
std::vector<size_t> Permutation(RuleContext& context, const Node& n, size_t rank) {
  if (n.op != "Transpose") return {};
  const auto perm = PermutationOf(context, n);
  if (!perm.ok() || perm->size() != rank) return {};
  return {perm->begin(), perm->end()};
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

// Of operand `index`; q and k have a `scale`.
void AbsorbInto(RuleContext& context, size_t index, float* scale, char* repeated,
                AttentionForm& f) {
  const std::string& scores = f.scores;
  LabeledInput& x = f.operands[index];
  bool repeats = index > 0 && !f.repeated.empty();
  for (int i = 0; i < kMostMoves; ++i) {
    const Node& n = context.Candidate(x.e);
    if (n.op.empty()) return;
    const LabeledInput moved = x;
    if (AbsorbTranspose(context, n, x) ||
        (scale != nullptr && AbsorbScale(context, n, x, *scale))) {
      if (!repeats) AddFreedShapes(context, moved, index, f.shapes);
      continue;
    }
    if (AbsorbIndex(context, x)) continue;
    if (repeated != nullptr) {
      LabeledInput before = x;
      char label = *repeated;
      if (AbsorbRepeats(context, n, f.operands[0], f.operands[0].labels + scores.back(), before,
                        label) &&
          scores.find(label) != scores.npos && label != scores.back()) {
        x = before;
        *repeated = label;
        repeats = true;
        continue;
      }
    }
    return;
  }
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

void AbsorbMoves(RuleContext& context, AttentionForm& f) {
  char repeated = f.repeated.empty() ? 0 : f.repeated[0];
  AbsorbInto(context, 0, &f.scale, nullptr, f);
  AbsorbInto(context, 1, &f.scale, &repeated, f);
  AbsorbInto(context, 2, nullptr, &repeated, f);
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
