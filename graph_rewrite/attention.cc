#include "graph_rewrite/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/product_labels.h"
#include "kernels/attention/attention.h"

namespace tenon {
namespace {

constexpr int kLongest = static_cast<int>(kMaxAttentionSteps);
// Of a score so low, e^score is 0 beside that of any key that is not hidden.
constexpr float kHidden = -1e4f;

// The value of a floating constant whose elements are all the same.
bool IsUniform(RuleContext& context, Endpoint e, float& value) {
  const Tensor* t = context.Constant(e);
  if (t == nullptr && context.node(e).op == "Fill") {
    t = context.Constant(context.node(e).inputs[1]);
  }
  if (t == nullptr || !IsFloating(t->dtype()) || t->num_elements() == 0) return false;
  const size_t size = SizeOf(t->dtype());
  const char* raw = static_cast<const char*>(t->raw());
  if (std::memcmp(raw, raw + size, t->bytes() - size) != 0) return false;
  value = static_cast<float>(FloatElement(*t, 0));
  return true;
}

// The inputs of an op that may be the scores.
// op names: what each does to the scores differs, and is spelled out below.
std::vector<int> ScoreInputs(absl::string_view op) {
  if (op == "AddV2" || op == "Add" || op == "Mul") return {0, 1};
  if (op == "Sub" || op == "RealDiv" || op == "Tanh") return {0};
  if (op == "SelectV2" || op == "Select") return {1, 2};
  return {};
}

bool LeadsToProduct(RuleContext& context, Endpoint e, int depth) {
  const Node& n = context.node(e);
  if (IsPlainProduct(n.op)) return true;
  if (depth == 0) return false;
  if (n.op == "Reshape" || n.op == "Transpose") {
    return LeadsToProduct(context, n.inputs[0], depth - 1);
  }
  for (int i : ScoreInputs(n.op)) {
    if (LeadsToProduct(context, n.inputs[static_cast<size_t>(i)], depth - 1)) return true;
  }
  return false;
}

// The scores between the product and the Softmax.
class Scores {
 public:
  Scores(RuleContext& context, AttentionForm& form, int rank)
      : context_(context), form_(form), rank_(rank) {}

  // `x` is what `reader` reads.
  absl::Status Find(Endpoint x, NodeId reader) {
    TENON_RETURN_IF_ERROR(Walk(x, reader, kLongest));
    if (form_.windows == 0) return absl::OkStatus();
    if (!form_.transposed.empty()) return WhyNot("scores of windows are transposed");
    if (context_.shapes.rank({form_.product, 0}) != rank_) {
      return WhyNot("the softmax has another rank than the product");
    }
    for (Endpoint mask : joined_) {
      if (context_.shapes.shape(mask).dim(0) != 1) {
        return WhyNot("a mask is over images and windows joined");
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Walk(Endpoint x, NodeId reader, int depth) {
    const Node& n = context_.Candidate(x);
    if (x.port != 0 || n.op.empty() || !IsRead(x.node, reader)) {
      return WhyNot("the scores cannot be replaced");
    }
    if (IsPlainProduct(n.op)) {
      form_.product = n.id;
      return absl::OkStatus();
    }
    if (n.op == "Cast") return WhyNot("the softmax has another dtype than the products");
    if (depth == 0) return WhyNot("too many ops between the product and the softmax");
    if (n.op == "Reshape") return WalkReshape(n, depth);
    if (n.op == "Transpose") return WalkTranspose(n);
    // A mask may come from a product, too.
    absl::Status refused;
    for (int i : ScoreInputs(n.op)) {
      const Endpoint from = n.inputs[static_cast<size_t>(i)];
      if (!LeadsToProduct(context_, from, depth - 1)) continue;
      const AttentionForm before = form_;
      const int split = split_;
      absl::Status status = context_.shapes.rank(from) == rank_ + split_
                                ? Walk(from, n.id, depth - 1)
                                : WhyNot("an op broadcasts the scores to a higher rank");
      if (status.ok()) status = AddStep(n, i);
      if (status.ok() || !refused.ok()) return status;
      refused = status;
      form_ = before;
      split_ = split;
    }
    if (!refused.ok()) return refused;
    return WhyNot(absl::StrCat("the softmax is not of a product of two tensors: '", n.name, "' (",
                               n.op, ")"));
  }

  // Whether only `reader` reads the node, apart from Shape nodes.
  bool IsRead(NodeId id, NodeId reader) {
    std::vector<NodeId> shapes;
    if (ReaderBesideShapes(context_, id, shapes) != reader || shapes.empty()) {
      return context_.HasOnlyReader(id, reader);
    }
    for (NodeId shape : shapes) form_.shapes.push_back({shape, ""});
    return true;
  }

  absl::Status AddStep(const Node& n, int scores) {
    if (n.op == "Tanh") {
      form_.steps.push_back("Tanh");
      return absl::OkStatus();
    }
    if (n.op == "SelectV2" || n.op == "Select") return AddSelect(n, scores);
    const Endpoint other = n.inputs[static_cast<size_t>(1 - scores)];
    float value;
    if ((n.op == "Mul" || n.op == "RealDiv") && IsUniform(context_, other, value) &&
        context_.shapes.BroadcastsTo(other, n.inputs[static_cast<size_t>(scores)])) {
      if (n.op == "RealDiv") value = 1 / value;
      if (value == 0 || !std::isfinite(value)) return WhyNot("the scale is not a number");
      if (form_.steps.empty()) {
        form_.scale *= value;
      } else {
        form_.steps.push_back("Scale");
        form_.values.push_back(value);
      }
      return absl::OkStatus();
    }
    if (n.op == "RealDiv") return WhyNot("the divisor is not a constant number");
    TENON_RETURN_IF_ERROR(CheckRank(other, "a mask"));
    form_.masks.push_back(other);
    // op names: as above; to steps of attention.
    form_.steps.push_back(n.op == "Mul" ? "Mul" : n.op == "Sub" ? "Sub" : "Add");
    return absl::OkStatus();
  }

  // Of the product itself: einsums may compute it as that of k and q.
  absl::Status WalkTranspose(const Node& n) {
    form_.transposed = ConstantIntegers(context_, n.inputs[1]);
    std::vector<int64_t> order = form_.transposed, all(static_cast<size_t>(rank_));
    std::sort(order.begin(), order.end());
    std::iota(all.begin(), all.end(), 0);
    if (order != all || !IsPlainProduct(context_.node(n.inputs[0]).op)) {
      return WhyNot("the scores are transposed between the product and the softmax");
    }
    return Walk(n.inputs[0], n.id, 1);
  }

  // Splits the first dimension into images and windows, or joins these.
  absl::Status WalkReshape(const Node& n, int depth) {
    return split_ == 1 ? WalkSplit(n, depth) : WalkJoin(n, depth);
  }

  absl::Status WalkSplit(const Node& n, int depth) {
    const Shape& shape = context_.shapes.shape({n.id, 0});
    const int64_t windows = shape.rank() == rank_ + 1 ? shape.dim(1) : 0;
    if (windows <= 0 || (form_.windows != 0 && form_.windows != windows) ||
        !context_.shapes.Joins({n.id, 0}, n.inputs[0], 0)) {
      return WhyNot("a Reshape of the scores splits unknown dimensions");
    }
    form_.windows = windows;
    before_split_ = n.inputs[0];
    split_ = 0;
    TENON_RETURN_IF_ERROR(Walk(n.inputs[0], n.id, depth - 1));
    split_ = 1;
    return absl::OkStatus();
  }

  // Nothing may be known of the dimensions of masks that were added since the split, so nor of the
  // sums. A mask could have widened them only, to more elements than the joined tensor has.
  absl::Status WalkJoin(const Node& n, int depth) {
    const Endpoint joined = {n.id, 0}, split = n.inputs[0];
    if (context_.shapes.rank(joined) != rank_ || context_.shapes.rank(split) != rank_ + 1) {
      return WhyNot("a Reshape of the scores joins unknown dimensions");
    }
    split_ = 1;
    TENON_RETURN_IF_ERROR(Walk(split, n.id, depth - 1));
    split_ = 0;
    if (!context_.shapes.Joins(split, joined, 0) &&
        !context_.shapes.SameShape(joined, before_split_)) {
      return WhyNot("a Reshape of the scores joins other dimensions than were split");
    }
    return absl::OkStatus();
  }

  absl::Status AddSelect(const Node& n, int scores) {
    const Endpoint condition = n.inputs[0];
    float value;
    const Endpoint hidden = n.inputs[static_cast<size_t>(3 - scores)];
    if (!IsUniform(context_, hidden, value) ||
        !context_.shapes.BroadcastsTo(hidden, n.inputs[static_cast<size_t>(scores)])) {
      return WhyNot("what hides scores is not a constant number");
    }
    TENON_RETURN_IF_ERROR(CheckRank(condition, "a condition"));
    if (n.op == "Select" && context_.shapes.rank(condition) != rank_) {
      return WhyNot("the condition of a Select is a vector or a scalar");
    }
    form_.conditions.push_back(condition);
    form_.values.push_back(value);
    form_.steps.push_back(scores == 1 ? "Select" : "SelectNot");
    return absl::OkStatus();
  }

  absl::Status CheckRank(Endpoint e, absl::string_view what) {
    const int rank = context_.shapes.rank(e);
    if (rank < 0) return WhyNot(absl::StrCat("the rank of ", what, " is not known"));
    if (rank > rank_ + split_) {
      return WhyNot(absl::StrCat(what, " has a higher rank than the scores"));
    }
    if (split_ == 0 && rank == rank_) joined_.push_back(e);
    return absl::OkStatus();
  }

  RuleContext& context_;
  AttentionForm& form_;
  const int rank_;                // of the product and of the softmax
  int split_ = 0;                 // 1: windows are a dimension of their own
  Endpoint before_split_;         // what the first Reshape splits
  std::vector<Endpoint> joined_;  // masks over images and windows joined
};

bool Has(const std::string& labels, char c) { return labels.find(c) != std::string::npos; }

// Renames the labels of `from` to those of `to` in `labels`.
std::string Renamed(std::string labels, const std::string& from, const std::string& to) {
  for (char& c : labels) {
    const size_t i = from.find(c);
    if (i != std::string::npos) c = to[i];
  }
  return labels;
}

absl::Status LabelAll(RuleContext& context, AttentionForm& f, NodeId after, size_t slot) {
  const Node& first = context.node(f.product);
  TENON_ASSIGN_OR_RETURN(const ProductLabels scores, LabelProduct(context, first, f.next));
  f.scores = scores.out;
  if (!f.transposed.empty()) {
    if (f.scores.size() != f.transposed.size()) return WhyNot("the product has another rank");
    for (size_t i = 0; i < f.scores.size(); ++i) {
      f.scores[i] = scores.out[static_cast<size_t>(f.transposed[i])];
    }
  }
  const char key = f.scores.back();
  const bool in_first = Has(scores.operands[0], key), in_second = Has(scores.operands[1], key);
  if (in_first == in_second) return WhyNot("the softmax is not along one operand of the product");
  const size_t k = in_second ? 1 : 0;
  f.operands[0] = {first.inputs[1 - k], scores.operands[1 - k]};
  f.operands[1] = {first.inputs[k], scores.operands[k]};

  for (LabeledShape& shape : f.shapes) {
    if (!context.shapes.SameShape(context.node(shape.node).inputs[0], {f.product, 0})) {
      return WhyNot("a Shape reads scores that are broadcast");
    }
    shape.labels = f.scores;
  }

  const Node& second = context.node(after);
  TENON_ASSIGN_OR_RETURN(const ProductLabels values, LabelProduct(context, second, f.next));
  const std::string& weights = values.operands[slot];
  if (weights.size() != f.scores.size()) {
    return WhyNot("the product after the softmax broadcasts the weights");
  }
  f.operands[2] = {second.inputs[1 - slot], Renamed(values.operands[1 - slot], weights, f.scores)};
  f.out = Renamed(values.out, weights, f.scores);
  if (!Has(f.operands[2].labels, key) || Has(f.out, key)) {
    return WhyNot("the product after the softmax does not sum over its axis");
  }
  if (f.out.size() != f.scores.size()) {
    return WhyNot("the product after the softmax broadcasts the weights");
  }
  if (f.next > 'z') return WhyNot("too many dimensions");
  return absl::OkStatus();
}

// The node that reads the weights.
absl::StatusOr<NodeId> ReaderOfWeights(RuleContext& context, NodeId weights) {
  const NodeId reader = context.OnlyReader(weights);
  if (reader != kNoNode) return reader;
  context.HasOnlyReader(weights, weights);  // for the reason
  return WhyNot("the weights have other readers");
}

// The input of a selection between the weights and zeros that is the weights; 0 if `id` is none.
int SelectedInput(RuleContext& context, NodeId id, NodeId weights) {
  const Node& n = context.Candidate(id);
  if (n.op != "SelectV2" && n.op != "Select") return 0;
  const int kept = n.inputs[1] == Endpoint{weights, 0} ? 1 : 2;
  float value;
  const Endpoint other = n.inputs[static_cast<size_t>(3 - kept)];
  return IsUniform(context, other, value) && value == 0 &&
                 context.shapes.SameShape({id, 0}, {weights, 0})
             ? kept
             : 0;
}

}  // namespace

absl::StatusOr<AttentionForm> FindAttention(RuleContext& context, NodeId softmax) {
  AttentionForm f;
  f.weights = softmax;
  TENON_ASSIGN_OR_RETURN(NodeId after, ReaderOfWeights(context, softmax));
  const NodeId selected = after;
  const int kept = SelectedInput(context, after, softmax);
  if (kept != 0) {
    f.weights = after;
    TENON_ASSIGN_OR_RETURN(after, ReaderOfWeights(context, selected));
  }
  const Node& second = context.Candidate(after);
  if (!IsPlainProduct(second.op) || second.inputs.size() != 2) {
    return WhyNot("no product reads the softmax");
  }
  const int rank = context.shapes.rank({softmax, 0});
  if (rank < 2) return WhyNot("the rank of the scores is not known");
  const size_t slot = second.inputs[0] == Endpoint{f.weights, 0} ? 0 : 1;
  const Endpoint scores = context.node(softmax).inputs[0];
  if (!LeadsToProduct(context, scores, kLongest)) {
    return WhyNot("the softmax is not of a product of two tensors");
  }
  TENON_RETURN_IF_ERROR(Scores(context, f, rank).Find(scores, softmax));
  if (kept != 0) {
    // Hidden weights are 0 anyway, but for queries from which all keys are hidden.
    const char* last = kept == 1 ? "Select" : "SelectNot";
    if (f.steps.empty() || f.steps.back() != last || f.values.back() > kHidden ||
        f.conditions.back() != context.node(selected).inputs[0] || f.windows != 0) {
      return WhyNot("the weights are not selected as the scores are");
    }
    f.zero_hidden = true;
  }
  TENON_RETURN_IF_ERROR(LabelAll(context, f, after, slot));
  f.result = after;
  return f;
}

}  // namespace tenon
