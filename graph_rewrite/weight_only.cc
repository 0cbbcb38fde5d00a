#include "graph_rewrite/weight_only.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph_rewrite/elements.h"

namespace tenon {
namespace {

// Smaller constants of 16 bits are not worth other kernels.
constexpr int64_t kLeastHalfElements = int64_t{1} << 16;
constexpr int kMostSteps = 10;

bool AttrIs(const Node& n, const char* name) {
  const bool* value = n.attr<bool>(name);
  return value != nullptr && *value;
}

bool IsTransposed(const Node& product) {
  return AttrIs(product, "transpose_b") || AttrIs(product, "adj_y");
}

// A parameter: a constant, or a constant that is cast to float, of a dtype that NumberAt reads.
const Tensor* ParameterOf(RuleContext& context, Endpoint e) {
  const Node& n = context.node(e);
  const bool cast = n.op == "Cast";
  if (cast && !context.IsCandidate(n.id)) return nullptr;
  const Tensor* t = context.Constant(cast ? n.inputs[0] : e);
  const bool readable = t != nullptr && (IsFloating(t->dtype()) || t->dtype() == DType::kInt8 ||
                                         t->dtype() == DType::kUint8);
  return readable ? t : nullptr;
}

double NumberAt(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kInt8) return t.data<int8_t>()[i];
  if (t.dtype() == DType::kUint8) return t.data<uint8_t>()[i];
  return FloatElement(t, i);
}

// The integer that all elements have, if they are integers of one value.
std::optional<int64_t> OnlyInteger(const Tensor* t) {
  if (t == nullptr || t->num_elements() != 1) return std::nullopt;
  if (t->dtype() == DType::kUint8) return t->data<uint8_t>()[0];
  if (t->dtype() == DType::kInt32) return t->data<int32_t>()[0];
  if (t->dtype() == DType::kInt64) return t->data<int64_t>()[0];
  return std::nullopt;
}

class Finder {
 public:
  // Without `parameters`, the result lacks scales and zeros, and they are not checked.
  Finder(RuleContext& context, bool transposed, bool parameters)
      : context_(context), parameters_(parameters) {
    found_.transposed = transposed;
  }

  absl::StatusOr<SmallWeights> Find(Endpoint e) {
    const Shape& matrix = context_.shapes.shape(e);
    if (!matrix.IsComplete() || matrix.rank() != 2) return WhyNot("the weights are no matrix");
    matrix_ = matrix;
    TENON_RETURN_IF_ERROR(SkipSlice(e));
    TENON_RETURN_IF_ERROR(SkipReshape(e));
    const Tensor *scales = nullptr, *zeros = nullptr;
    if (const Node* mul = Take(e, "Mul")) {
      for (size_t slot = 0; slot < 2 && scales == nullptr; ++slot) {
        scales = ParameterOf(context_, mul->inputs[1 - slot]);
        if (scales != nullptr) e = mul->inputs[slot];
      }
      if (scales == nullptr) return WhyNot("the scales are not constant");
    }
    if (const Node* sub = Take(e, "Sub")) {
      zeros = ParameterOf(context_, sub->inputs[1]);
      if (zeros == nullptr) return WhyNot("the zeros are not constant");
      e = sub->inputs[0];
    }
    const Node* cast = Take(e, "Cast");
    if (cast == nullptr || context_.shapes.dtype({cast->id, 0}) != DType::kFloat) {
      return WhyNot(absl::StrCat("'", context_.node(e).name, "' is not cast to float"));
    }
    TENON_RETURN_IF_ERROR(TakeElements(cast->inputs[0]));
    if (parameters_) TENON_RETURN_IF_ERROR(TakeParameters(scales, zeros));
    return std::move(found_);
  }

 private:
  int group_axis() const { return found_.transposed ? 1 : 0; }

  const Node* Take(Endpoint e, const char* op) const {
    const Node& n = context_.node(e);
    return n.op == op && e.port == 0 && context_.IsCandidate(n.id) ? &n : nullptr;
  }

  // The first rows of a matrix: those after K are filling.
  absl::Status SkipSlice(Endpoint& e) {
    const Node* slice = Take(e, "Slice");
    if (slice == nullptr) return absl::OkStatus();
    const Tensor* begin = context_.Constant(slice->inputs[1]);
    if (begin == nullptr) return WhyNot("the Slice is not constant");
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> from, IntegerValues(*begin));
    const Shape& whole = context_.shapes.shape(slice->inputs[0]);
    if (!whole.IsComplete() || whole.rank() != 2 ||
        !std::all_of(from.begin(), from.end(), [](int64_t i) { return i == 0; }) ||
        whole[1 - group_axis()] != matrix_[1 - group_axis()]) {
      return WhyNot("the Slice does not take the first rows");
    }
    e = slice->inputs[0];
    return absl::OkStatus();
  }

  // [groups, group, N] or [N, groups, group] becomes a matrix.
  absl::Status SkipReshape(Endpoint& e) {
    const Node* reshape = Take(e, "Reshape");
    if (reshape == nullptr) return absl::OkStatus();
    const Shape& s = context_.shapes.shape(reshape->inputs[0]);
    const Shape& matrix = context_.shapes.shape(e);
    const int a = group_axis();
    if (!s.IsComplete() || s.rank() != 3 || matrix.rank() != 2 || !matrix.IsComplete() ||
        matrix[a] != s[a] * s[a + 1] || matrix[1 - a] != s[found_.transposed ? 0 : 2]) {
      return WhyNot("the Reshape does not join groups of rows");
    }
    e = reshape->inputs[0];
    return absl::OkStatus();
  }

  absl::Status TakeElements(Endpoint e) {
    if (const Node* concat = Take(e, "ConcatV2")) {
      TENON_RETURN_IF_ERROR(TakeNibbles(*concat));
    } else {
      found_.constant = e;
    }
    const Tensor* elements = context_.Constant(found_.constant);
    if (elements == nullptr) return WhyNot("the weights are not constant");
    const DType dtype = elements->dtype();
    const bool half = dtype == DType::kBfloat16 || dtype == DType::kHalf;
    const bool byte = dtype == DType::kUint8 || (dtype == DType::kInt8 && found_.bits == 8);
    if (!half && !byte) return WhyNot(absl::StrCat("weights of ", Name(dtype)));
    if (half && elements->num_elements() < kLeastHalfElements) {
      return WhyNot("the weights are too small to be worth it");
    }
    const Shape& s = elements->shape();
    if (s.rank() != 2 && s.rank() != 3) return WhyNot("the elements are no matrix or groups");
    if (elements->num_elements() == 0) return WhyNot("there are no elements");
    const int a = group_axis(), packed = found_.bits == 4 ? 2 : 1;
    if (s.rank() == 3) {
      groups_ = s[a];
      group_ = s[a + 1] * packed;
      columns_ = s[found_.transposed ? 0 : 2];
    } else {
      groups_ = 1;
      group_ = s[a] * packed;
      columns_ = s[1 - a];
    }
    found_.group = group_;
    const Shape flat = found_.transposed ? Shape({columns_, groups_ * group_ / packed})
                                         : Shape({groups_ * group_ / packed, columns_});
    TENON_ASSIGN_OR_RETURN(found_.weights, elements->Reshaped(flat));
    // What is sliced away must be less than a group.
    if ((matrix_[a] + group_ - 1) / group_ != groups_) return WhyNot("whole groups are cut off");
    return absl::OkStatus();
  }

  absl::Status TakeNibbles(const Node& concat) {
    if (concat.inputs.size() != 3) return WhyNot("more than two halves are joined");
    const Node *low = Take(concat.inputs[0], "BitwiseAnd"),
               *high = Take(concat.inputs[1], "RightShift");
    if (low == nullptr || high == nullptr) return WhyNot("they are not the halves of bytes");
    const size_t slot = OnlyInteger(context_.Constant(low->inputs[1])).has_value() ? 0 : 1;
    const auto mask = OnlyInteger(context_.Constant(low->inputs[1 - slot]));
    const auto shift = OnlyInteger(context_.Constant(high->inputs[1]));
    if (mask != 15 || shift != 4 || low->inputs[slot] != high->inputs[0]) {
      return WhyNot("they are not the halves of the same bytes");
    }
    found_.constant = high->inputs[0];
    const int rank = context_.shapes.rank(found_.constant);
    auto axis = OnlyInteger(context_.Constant(concat.inputs[2]));
    if (axis.has_value() && *axis < 0) *axis += rank;
    if (axis != (rank == 3 ? group_axis() + 1 : group_axis())) {
      return WhyNot("the halves are not joined along the axis of a group");
    }
    found_.bits = 4;
    return absl::OkStatus();
  }

  // The parameter for each group and column; fn(flat position in it, group, column).
  template <typename F>
  absl::Status ForParameters(const Tensor& t, const char* what, F fn) const {
    // As it is broadcast to [groups, group, N] or [N, groups, group]; a matrix has one group.
    const int rank = groups_ == 1 && t.shape().rank() <= 2 ? 2 : 3;
    if (t.shape().rank() > rank) return WhyNot(absl::StrCat("the ", what, " have a higher rank"));
    std::vector<int64_t> dims(static_cast<size_t>(rank - t.shape().rank()), 1);
    for (int64_t d : t.shape().dims()) dims.push_back(d);
    // Axes of groups, of rows in a group, of columns.
    const size_t rows = rank == 2 ? (found_.transposed ? 1 : 0) : (found_.transposed ? 2 : 1);
    const size_t columns = found_.transposed ? 0 : static_cast<size_t>(rank - 1);
    const size_t groups = rows - 1;
    if (dims[rows] != 1 || (dims[columns] != 1 && dims[columns] != columns_) ||
        (rank == 3 && dims[groups] != 1 && dims[groups] != groups_)) {
      return WhyNot(absl::StrCat("the ", what, " of shape ", t.shape().ToString(),
                                 " are not per group and column"));
    }
    const auto stride = [&](size_t axis) {
      int64_t n = 1;
      for (size_t d = axis + 1; d < dims.size(); ++d) n *= dims[d];
      return dims[axis] == 1 ? 0 : n;
    };
    const int64_t down = rank == 3 ? stride(groups) : 0, right = stride(columns);
    for (int64_t g = 0; g < groups_; ++g) {
      for (int64_t c = 0; c < columns_; ++c) fn(g * down + c * right, g, c);
    }
    return absl::OkStatus();
  }

  int64_t At(int64_t g, int64_t c) const {
    return found_.transposed ? c * groups_ + g : g * columns_ + c;
  }
  absl::StatusOr<Tensor> Parameters(DType dtype, double value) const {
    const Shape shape = found_.transposed ? Shape({columns_, groups_}) : Shape({groups_, columns_});
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(dtype, shape));
    for (int64_t i = 0; i < t.num_elements(); ++i) SetFloatElement(t, i, value);
    return t;
  }

  absl::Status TakeParameters(const Tensor* scales, const Tensor* zeros) {
    const double offset = found_.bits == 4 ? 8 : 0;
    if (scales == nullptr && zeros == nullptr && offset == 0) return absl::OkStatus();
    DType dtype = scales == nullptr ? DType::kFloat : scales->dtype();
    if (dtype != DType::kHalf && dtype != DType::kBfloat16) dtype = DType::kFloat;
    bool any_zero = false, exact = true;
    TENON_ASSIGN_OR_RETURN(Tensor zero, Parameters(DType::kFloat, -offset));
    if (zeros != nullptr) {
      TENON_RETURN_IF_ERROR(ForParameters(*zeros, "zeros", [&](int64_t i, int64_t g, int64_t c) {
        zero.data<float>()[At(g, c)] = static_cast<float>(NumberAt(*zeros, i) - offset);
      }));
    }
    for (const float z : zero.flat<float>()) {
      any_zero = any_zero || z != 0;
      exact = exact && z == std::nearbyint(z) && std::abs(z) <= 256;
    }
    if (any_zero && !exact) dtype = DType::kFloat;
    TENON_ASSIGN_OR_RETURN(found_.scales, Parameters(dtype, 1));
    if (scales != nullptr) {
      TENON_RETURN_IF_ERROR(ForParameters(*scales, "scales", [&](int64_t i, int64_t g, int64_t c) {
        SetFloatElement(*found_.scales, At(g, c), NumberAt(*scales, i));
      }));
    }
    if (!any_zero) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(found_.zeros, Parameters(dtype, 0));
    for (int64_t i = 0; i < zero.num_elements(); ++i) {
      SetFloatElement(*found_.zeros, i, zero.data<float>()[i]);
    }
    return absl::OkStatus();
  }

  RuleContext& context_;
  const bool parameters_;
  SmallWeights found_;
  Shape matrix_;
  int64_t groups_ = 1, group_ = 1, columns_ = 1;
};

// op names: the steps from stored to expanded weights.
bool IsStep(const Node& n) {
  return n.op == "Cast" || n.op == "Mul" || n.op == "Sub" || n.op == "Reshape" || n.op == "Slice" ||
         n.op == "ConcatV2" || n.op == "BitwiseAnd" || n.op == "RightShift";
}

// Whether the node is such a step and depends only on constants.
bool IsConstantStep(RuleContext& context, NodeId id, int steps) {
  const Node& n = context.node(id);
  if (steps == 0 || !IsStep(n)) return false;
  return std::all_of(n.inputs.begin(), n.inputs.end(), [&](const Endpoint& e) {
    return context.Constant(e) != nullptr || IsConstantStep(context, e.node, steps - 1);
  });
}

bool ReachesProduct(RuleContext& context, NodeId id, int steps) {
  if (steps == 0) return false;
  for (const Use& use : context.rw.uses(id)) {
    if (use.is_control()) continue;
    const Node& reader = context.node(use.reader);
    if (use.slot == 1 && TakesSmallWeights(context, reader)) {
      if (Finder(context, IsTransposed(reader), false).Find(reader.inputs[1]).ok()) return true;
    } else if (IsStep(reader) && ReachesProduct(context, reader.id, steps - 1)) {
      return true;
    }
  }
  return false;
}

bool IsDisabled(const RuleContext& context) {
  const Flags* flags = context.services.flags;
  return flags != nullptr && absl::StrContains(flags->disabled_rules, "FuseWeightOnly");
}

}  // namespace

bool TakesSmallWeights(RuleContext& context, const Node& product) {
  // op names: products of matrices, of the four whose weights may be a matrix.
  const bool matmul = product.op == "MatMul" || product.op == "_FusedMatMul";
  const bool batch = product.op == "BatchMatMulV2" || product.op == "_FusedBatchMatMulV2";
  if ((!matmul && !batch) || product.inputs.size() < 2) return false;
  if (AttrIs(product, "transpose_a") || AttrIs(product, "adj_x")) return false;
  if (context.shapes.dtype({product.id, 0}) != DType::kFloat) return false;
  return context.shapes.rank(product.inputs[0]) >= 2 &&
         context.shapes.rank(product.inputs[1]) == 2 &&
         context.Constant(product.inputs[0]) == nullptr;
}

absl::StatusOr<SmallWeights> FindSmallWeights(RuleContext& context, const Node& product) {
  return Finder(context, IsTransposed(product), true).Find(product.inputs[1]);
}

bool ExpandsSmallWeights(RuleContext& context, NodeId id) {
  return IsConstantStep(context, id, kMostSteps) && !IsDisabled(context) &&
         ReachesProduct(context, id, kMostSteps);
}

}  // namespace tenon
