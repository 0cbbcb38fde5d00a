#include "graph_rewrite/recurrent_loop.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/body_columns.h"
#include "graph_rewrite/dims.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/sequence_lengths.h"
#include "graph_rewrite/tensor_lists.h"

namespace tenon {
namespace {

constexpr size_t kMostNodes = 400;
constexpr int64_t kMostParts = 64;  // of a split

using Variable = RecurrentLoop::Variable;

class Reader {
 public:
  Reader(RuleContext& context, const Node& loop, RecurrentLoop& out)
      : context_(context), loop_(loop), out_(out) {}

  absl::Status Read() {
    TENON_ASSIGN_OR_RETURN(cond_, Function("cond"));
    TENON_ASSIGN_OR_RETURN(out_.body, Function("body"));
    body_ = out_.body.get();
    const size_t n = loop_.inputs.size();
    if (cond_->inputs().size() != n || body_->inputs().size() != n ||
        body_->outputs().size() != n || cond_->outputs().size() != 1) {
      return WhyNot("its functions have other signatures");
    }
    if (!body_->targets().empty() || !cond_->targets().empty()) {
      return WhyNot("its functions have side effects");
    }
    if (body_->num_nodes() > kMostNodes) return WhyNot("its body is too large");
    for (size_t i = 0; i < n; ++i) variable_of_[body_->inputs()[i].node] = static_cast<int>(i);
    out_.variables.resize(n);
    for (size_t i = 0; i < n; ++i) FindRole(i);
    TENON_ASSIGN_OR_RETURN(out_.bounds, ReadLoopBounds(context_, loop_, *cond_, *body_));
    return ReadBody();
  }

 private:
  absl::StatusOr<std::shared_ptr<const Graph>> Function(const char* attr) const {
    const FuncRef* ref = loop_.attr<FuncRef>(attr);
    std::shared_ptr<const Graph> found =
        ref == nullptr ? nullptr : context_.FindFunction(ref->name);
    if (found == nullptr) return WhyNot("its function is not in the library");
    return found;
  }

  int VariableOf(Endpoint e) const {
    const auto it = variable_of_.find(e.node);
    return it == variable_of_.end() ? -1 : it->second;
  }
  bool IsVariable(Endpoint e, Variable::Role role) const {
    const int v = VariableOf(e);
    return v >= 0 && out_.variables[static_cast<size_t>(v)].role == role;
  }
  Endpoint Outer(int variable) const { return loop_.inputs[static_cast<size_t>(variable)]; }

  void FindRole(size_t i) {
    const Endpoint result = body_->outputs()[i].source;
    const int own = static_cast<int>(i);
    Variable& v = out_.variables[i];
    if (VariableOf(result) == own) {
      v.role = Variable::kInvariant;
      return;
    }
    v.role = Variable::kState;
    const Node& n = body_->node(result.node);
    if (n.op == "TensorListSetItem" && VariableOf(n.inputs[0]) == own) {
      v.role = Variable::kResults;
      bookkeeping_.insert(n.id);
    } else if (n.op == "TensorListPushBack" && VariableOf(n.inputs[0]) == own) {
      v.role = Variable::kHistory;
      bookkeeping_.insert(n.id);
      has_history_ = true;
    } else if (CountsSteps(context_, loop_, *body_, i)) {
      v.role = Variable::kCounter;
      bookkeeping_.insert(n.id);
    }
  }

  absl::Status ReadBody() {
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, body_->TopologicalOrder());
    values_.assign(static_cast<size_t>(body_->end_id()), {});
    for (NodeId id : order) {
      const Node& n = body_->node(id);
      if (!n.control_inputs.empty()) return WhyNotInBody(n, "it has control inputs");
      if (bookkeeping_.contains(id)) continue;
      const absl::Status status = Evaluate(n);
      // What is only kept may be anything.
      if (!has_history_) TENON_RETURN_IF_ERROR(status);
    }
    for (size_t i = 0; i < out_.variables.size(); ++i) {
      Variable& v = out_.variables[i];
      const Endpoint result = body_->outputs()[i].source;
      if (v.role == Variable::kState) {
        TENON_ASSIGN_OR_RETURN(v.next, Value(result));
      } else if (v.role == Variable::kResults) {
        const Node& set = body_->node(result.node);
        TENON_ASSIGN_OR_RETURN(v.next, Value(set.inputs[2]));
        v.every_step = IsVariable(set.inputs[1], Variable::kCounter);
        if (!v.every_step && IntegerIn(*body_, set.inputs[1], -1) != 0) {
          return WhyNotInBody(set, "it does not write the step's item");
        }
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ExprId> Value(Endpoint e) const {
    const auto& values = values_[static_cast<size_t>(e.node)];
    const auto port = static_cast<size_t>(e.port);
    if (port < values.size() && values[port] >= 0) return values[port];
    const Node& n = body_->node(e.node);
    return WhyNotInBody(
        n, VariableOf(e) >= 0 ? "this loop variable is used otherwise" : "it is no part of a cell");
  }
  void Set(const Node& n, ExprId e) { values_[static_cast<size_t>(n.id)] = {e}; }

  absl::Status Evaluate(const Node& n) {
    if (const int v = VariableOf({n.id, 0}); v >= 0) return EvaluateVariable(n, v);
    if (n.op == "Const") {
      if (const Tensor* t = n.attr<Tensor>("value")) EvaluateConstant(n, *t);
      return absl::OkStatus();
    }
    if (n.op == "TensorListGetItem") return EvaluateItem(n);
    if (n.op == "MatMul") return EvaluateProduct(n);
    // op names: each is read in its own way
    if (n.op == "Split" || n.op == "SplitV" || n.op == "StridedSlice") return EvaluateSlices(n);
    if (n.op == "ConcatV2") return EvaluateConcat(n);
    if (n.op == "ZerosLike") {
      Set(n, out_.expressions.Add({.kind = Expression::kZeros}));
      return absl::OkStatus();
    }
    if (n.op == "OnesLike") {
      Set(n, out_.expressions.Number(1));
      return absl::OkStatus();
    }
    if (n.op == "Tile" || n.op == "ExpandDims") return EvaluateMaskShape(n);
    if (ComparesLengths(n)) return EvaluateLengths(n);
    if (n.op == "Select" || n.op == "SelectV2") return EvaluateSelect(n);
    return EvaluateElementwise(n);
  }

  absl::Status EvaluateVariable(const Node& n, int v) {
    const Variable::Role role = out_.variables[static_cast<size_t>(v)].role;
    const Endpoint outer = Outer(v);
    if (role == Variable::kState) {
      const Dimension width = DimensionOf(context_, outer, 1);
      int rank = context_.shapes.rank(outer);
      if (context_.shapes.dtype(outer) != DType::kFloat) return WhyNotInBody(n, "it is not float");
      if ((rank != 2 && rank >= 0) || width.value < 1)
        return WhyNotInBody(n, "its size is not known");
      Set(n,
          out_.expressions.Add({.kind = Expression::kState, .width = width.value, .variable = v}));
    } else if (role == Variable::kInvariant) {
      if (const Tensor* t = context_.Constant(outer)) {
        EvaluateConstant(n, *t);
      } else if (context_.shapes.dtype(outer) == DType::kFloat && IsZeroTensor(context_, outer)) {
        Set(n, out_.expressions.Add({.kind = Expression::kZeros}));
      }
    }
    return absl::OkStatus();
  }

  void EvaluateConstant(const Node& n, const Tensor& t) {
    if (t.dtype() != DType::kFloat) return;
    const int rank = t.shape().rank();
    if (rank > 0 && t.num_elements() > 1 && IsFilledWith(t, 0)) {
      Set(n, out_.expressions.Add({.kind = Expression::kZeros}));
    } else if (t.num_elements() == 1 && rank <= 2) {
      Set(n, out_.expressions.Number(*t.data<float>()));
    } else if (rank == 1 || (rank == 2 && t.shape().dim(0) == 1)) {
      Set(n, out_.expressions.Vector({.tensor = &t, .rows = 1, .columns = t.num_elements()}));
    }
    if (rank == 2) {
      matrices_[{n.id, 0}] = {.tensor = &t, .rows = t.shape().dim(0), .columns = t.shape().dim(1)};
    }
  }

  absl::Status EvaluateItem(const Node& n) {
    const int list = VariableOf(n.inputs[0]);
    if (list < 0 || !IsVariable(n.inputs[0], Variable::kInvariant)) {
      return WhyNotInBody(n, "it takes an item of a list that changes");
    }
    if (!IsVariable(n.inputs[1], Variable::kCounter)) {
      return WhyNotInBody(n, "it does not take the step's item");
    }
    const Endpoint tensor = TensorOfList(context_, Outer(list));
    if (tensor.node == kNoNode) return WhyNotInBody(n, "the list is not made from a tensor");
    const Shape& shape = context_.shapes.shape(tensor);
    const DType dtype = context_.shapes.dtype(tensor);
    if (!shape.has_rank()) return WhyNotInBody(n, "its rank is not known");
    const int64_t last = shape.rank() == 3 ? shape.dim(2) : -1;
    if (dtype == DType::kFloat && last >= 1) {
      Set(n, out_.expressions.Add({.kind = Expression::kItem, .width = last, .variable = list}));
    } else if (dtype == DType::kBool && (shape.rank() == 2 || last == 1)) {
      Set(n, out_.expressions.Add(
                 {.kind = Expression::kMask, .width = shape.rank() == 3, .variable = list}));
    } else {
      return WhyNotInBody(n, absl::StrCat("it takes items of a ", Name(dtype), " tensor of shape ",
                                          shape.ToString()));
    }
    return absl::OkStatus();
  }

  // Whether it compares the number of the step with an invariant integer vector.
  bool ComparesLengths(const Node& n) const {
    if (!ComparesBySize(n.op)) return false;
    for (size_t i : {0, 1}) {
      if (!IsVariable(n.inputs[i], Variable::kCounter)) continue;
      const int v = VariableOf(n.inputs[1 - i]);
      if (v < 0 || !IsVariable(n.inputs[1 - i], Variable::kInvariant)) return false;
      const Shape& shape = context_.shapes.shape(Outer(v));
      return shape.has_rank() && shape.rank() == 1;
    }
    return false;
  }

  absl::Status EvaluateLengths(const Node& n) {
    const bool step_first = IsVariable(n.inputs[0], Variable::kCounter);
    const bool below = absl::StartsWith(n.op, "Less") == step_first;  // the step is below
    if (below == absl::EndsWith(n.op, "Equal"))
      return WhyNotInBody(n, "it includes the step at the length");
    Set(n, out_.expressions.Add({.kind = Expression::kMask,
                                 .op = below ? "within" : "beyond",
                                 .width = 0,
                                 .variable = VariableOf(n.inputs[step_first ? 1 : 0])}));
    return absl::OkStatus();
  }

  absl::Status EvaluateProduct(const Node& n) {
    const bool* a = n.attr<bool>("transpose_a");
    const bool* b = n.attr<bool>("transpose_b");
    if (a != nullptr && *a) return WhyNotInBody(n, "its operand is transposed");
    const auto it = matrices_.find(n.inputs[1]);
    if (it == matrices_.end()) return WhyNotInBody(n, "the weights are not constant");
    ConstantBlock weights = it->second;
    if (b != nullptr && *b) {
      std::swap(weights.row, weights.column);
      std::swap(weights.rows, weights.columns);
      weights.transposed = true;
    }
    TENON_ASSIGN_OR_RETURN(const ExprId operand, Value(n.inputs[0]));
    return Finish(n, out_.expressions.Product(operand, weights));
  }

  // Sets the result, or names the node that has none.
  absl::Status Finish(const Node& n, absl::StatusOr<ExprId> result) {
    if (!result.ok()) return WhyNotInBody(n, result.status().message());
    Set(n, *result);
    return absl::OkStatus();
  }

  absl::Status EvaluateSlices(const Node& n) {
    const Endpoint input = n.inputs[n.op == "Split" ? 1 : 0];
    const auto matrix = matrices_.find(input);
    const bool is_matrix = matrix != matrices_.end();
    if (is_matrix) {
      const ConstantBlock block = matrix->second;
      const auto columns = ColumnsOf(*body_, n, block.columns, 2);
      if (!columns.ok()) return WhyNotInBody(n, columns.status().message());
      int64_t begin = columns->begin;
      for (size_t i = 0; i < columns->sizes.size(); ++i) {
        const int64_t size = columns->sizes[i];
        if (begin + size > block.columns) return WhyNotInBody(n, "columns out of range");
        matrices_[{n.id, static_cast<int>(i)}] = block.Columns(begin, size);
        begin += size;
      }
    }
    const auto whole = Value(input);
    if (!whole.ok()) return is_matrix ? absl::OkStatus() : whole.status();
    auto& values = values_[static_cast<size_t>(n.id)];
    const Expression e = out_.expressions.at(*whole);
    if (e.kind == Expression::kZeros) {
      const int64_t* parts = n.attr<int64_t>("num_split");  // StridedSlice has none
      if (parts != nullptr && (*parts < 1 || *parts > kMostParts))
        return WhyNotInBody(n, "odd parts");
      values.assign(parts == nullptr ? 1 : static_cast<size_t>(*parts), *whole);
      return absl::OkStatus();
    }
    const int rank = e.kind == Expression::kVector ? e.block.tensor->shape().rank() : 2;
    const auto columns = ColumnsOf(*body_, n, e.width, rank);
    if (!columns.ok()) return WhyNotInBody(n, columns.status().message());
    int64_t begin = columns->begin;
    for (int64_t size : columns->sizes) {
      auto part = out_.expressions.Slice(*whole, begin, size);
      if (!part.ok()) return WhyNotInBody(n, part.status().message());
      values.push_back(*part);
      begin += size;
    }
    return absl::OkStatus();
  }

  absl::Status EvaluateConcat(const Node& n) {
    const int64_t axis = IntegerIn(*body_, n.inputs.back(), 0);
    if (axis != 1 && axis != -1) return WhyNotInBody(n, "it does not join columns");
    Expression joined = {.kind = Expression::kConcat, .width = 0};
    for (size_t i = 0; i + 1 < n.inputs.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(const ExprId part, Value(n.inputs[i]));
      const Expression& e = out_.expressions.at(part);
      if (e.kind != Expression::kItem && e.kind != Expression::kState &&
          e.kind != Expression::kOp && e.kind != Expression::kProduct) {
        return WhyNotInBody(n, "it joins something else than states and inputs");
      }
      joined.args.push_back(part);
      joined.width += e.width;
    }
    Set(n, out_.expressions.Add(std::move(joined)));
    return absl::OkStatus();
  }

  // A mask that is made as wide as what it selects.
  absl::Status EvaluateMaskShape(const Node& n) {
    TENON_ASSIGN_OR_RETURN(const ExprId mask, Value(n.inputs[0]));
    Expression e = out_.expressions.at(mask);
    const Tensor* by = ConstantIn(*body_, n.inputs[1]);
    if (e.kind != Expression::kMask || by == nullptr)
      return WhyNotInBody(n, "it is no part of a cell");
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegerValues(*by));
    if (n.op == "ExpandDims") {
      if (e.width != 0 || values.size() != 1 || (values[0] != 1 && values[0] != -1)) {
        return WhyNotInBody(n, "it adds another dimension");
      }
      e.width = 1;
    } else {
      if (e.width != 1 || values.size() != 2 || values[0] != 1 || values[1] < 1) {
        return WhyNotInBody(n, "it repeats something else than a column");
      }
      e.width = values[1];
    }
    Set(n, out_.expressions.Add(std::move(e)));
    return absl::OkStatus();
  }

  absl::Status EvaluateSelect(const Node& n) {
    std::vector<ExprId> args;
    for (Endpoint in : n.inputs) {
      TENON_ASSIGN_OR_RETURN(const ExprId e, Value(in));
      args.push_back(e);
    }
    Expression mask = out_.expressions.at(args[0]);
    if (mask.kind != Expression::kMask) return WhyNotInBody(n, "its condition is not a mask");
    // Select takes a vector, for rows, or a tensor of its operands' shape; SelectV2 broadcasts.
    const int64_t width =
        std::max(out_.expressions.at(args[1]).width, out_.expressions.at(args[2]).width);
    const bool fits = mask.width == width || mask.width == (n.op == "Select" ? 0 : 1);
    if (!fits) return WhyNotInBody(n, "the mask has another shape");
    mask.width = 1;
    if (mask.op == "beyond") {
      mask.op = "within";
      std::swap(args[1], args[2]);
    }
    args[0] = out_.expressions.Add(std::move(mask));
    return Finish(n, out_.expressions.Op("Select", std::move(args)));
  }

  absl::Status EvaluateElementwise(const Node& n) {
    // op names: what cells are made of
    static constexpr absl::string_view kUnary[] = {"Sigmoid", "Tanh",     "Relu", "Relu6",   "Neg",
                                                   "Elu",     "Softplus", "Selu", "Softsign"};
    // op names: likewise
    static constexpr absl::string_view kBinary[] = {"AddV2",   "Sub",     "Mul",    "RealDiv",
                                                    "Maximum", "Minimum", "BiasAdd"};
    const bool unary = std::find(std::begin(kUnary), std::end(kUnary), n.op) != std::end(kUnary);
    const bool binary =
        std::find(std::begin(kBinary), std::end(kBinary), n.op) != std::end(kBinary);
    if (!unary && !binary) return WhyNotInBody(n, "it is no part of a cell");
    std::vector<ExprId> args;
    for (Endpoint in : n.inputs) {
      TENON_ASSIGN_OR_RETURN(const ExprId e, Value(in));
      args.push_back(e);
    }
    if (args.size() != (unary ? 1u : 2u)) return WhyNotInBody(n, "it has other operands");
    // A factor of 1, as dropout leaves in inference.
    for (size_t i = 0; n.op == "Mul" && i < 2; ++i) {
      const Expression& factor = out_.expressions.at(args[i]);
      if (factor.kind != Expression::kNumber || factor.number != 1) continue;
      Set(n, args[1 - i]);
      return absl::OkStatus();
    }
    return Finish(n, out_.expressions.Op(n.op == "BiasAdd" ? "AddV2" : n.op, std::move(args)));
  }

  RuleContext& context_;
  const Node& loop_;
  RecurrentLoop& out_;
  std::shared_ptr<const Graph> cond_;
  const Graph* body_ = nullptr;
  HashMap<NodeId, int> variable_of_;
  HashMap<Endpoint, ConstantBlock> matrices_;
  HashSet<NodeId> bookkeeping_;  // nodes that count steps or write lists
  bool has_history_ = false;
  std::vector<absl::InlinedVector<ExprId, 4>> values_;
};

}  // namespace

absl::StatusOr<RecurrentLoop> ReadRecurrentLoop(RuleContext& context, const Node& loop) {
  RecurrentLoop out;
  TENON_RETURN_IF_ERROR(Reader(context, loop, out).Read());
  return out;
}

}  // namespace tenon
