// Gradients of loops add up the gradients of weights, a small product in each step:
//
//   sum += transpose(a) * b       and sum += the rows of b, for biases
//
// That is one product after the loop, of the rows of all steps. The loop keeps the operands in
// lists, as it does with values for its gradient.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/body_columns.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/loop_editor.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/tensor_lists.h"

namespace tenon {
namespace {

// Of the size of the lists that a loop has, those that it gets.
constexpr int64_t kMostGrowth = 16;
// A loop adds to smaller sums quickly, because they stay in the caches. With more rows, or if their
// number is not known, products take longer than adding their results to a sum that is not large:
// the gradient of an LSTM of 256 units, of 64 steps, gains a quarter with 8 rows, 6 % with 16, and
// loses 7 % with 32; one of 512 units gains half, 17 % and 4 %.
constexpr int64_t kFewRowsOfTerm = 16;
constexpr int64_t kLeastElementsOfSum = 16384;
constexpr int64_t kLeastElementsOfSumOfMoreRows = int64_t{1} << 19;
constexpr int64_t kMostRowsOfTerm = 32;
constexpr int kMostDepth = 64;  // of a term

// How an op's result depends on its inputs, of which the others are constants.
struct Linearity {
  bool over_rows = false;  // it adds up what it makes of each row of `inputs`
  bool linear = false;     // it is linear in `inputs`
  std::vector<size_t> inputs = {};
};

class LoopSums {
 public:
  LoopSums(RuleContext& context, NodeId loop)
      : context_(context), loop_(loop), editor_(context, loop) {}

  // FailedPrecondition with the reason if nothing leaves the loop.
  absl::Status Check() {
    TENON_RETURN_IF_ERROR(editor_.Open());
    StateItemShapes();
    absl::Status why = WhyNot("it adds up nothing");
    HashSet<int> moved;
    // What is kept for one sum serves others, which come before it perhaps.
    for (size_t before = SIZE_MAX; before != rows_.size();) {
      before = rows_.size();
      for (int v = 0; v < editor_.num_variables(); ++v) {
        if (moved.contains(v) || !AddsUp(v)) continue;
        Sum sum{.variable = v, .node = editor_.result(v).node};
        why = ReadSum(sum);
        if (!why.ok()) continue;
        sums_.push_back(std::move(sum));
        moved.insert(v);
      }
    }
    if (sums_.empty()) return why;
    const bool worth = std::any_of(sums_.begin(), sums_.end(), [&](const Sum& sum) {
      const int64_t least = sum.few_rows ? kLeastElementsOfSum : kLeastElementsOfSumOfMoreRows;
      return ShapeOf(sum).num_elements() >= least;
    });
    return worth ? absl::OkStatus() : WhyNot("its sums are small");
  }

  void Apply() {
    std::vector<std::vector<Endpoint>> copies;
    for (const Sum& sum : sums_) {
      copies.emplace_back();
      for (const Endpoint& e : sum.terms) copies.back().push_back(Copy(e));
      Endpoint rest = editor_.argument(sum.variable);
      if (!sum.kept.empty()) rest = AddSum(editor_.rw(), sum.node, sum.kept, rest);
      editor_.Replace({sum.node, 0}, rest);
    }
    editor_.Commit();
    for (size_t i = 0; i < sums_.size(); ++i) AddBehind(sums_[i], copies[i]);
  }

  // How many sums over rows it has seen.
  int progress() const { return progress_; }

 private:
  struct Sum {
    int variable = -1;
    NodeId node = kNoNode;
    bool few_rows = true;              // of each term
    std::vector<Endpoint> terms = {};  // in the body
    std::vector<Endpoint> kept = {};   // what each iteration adds further on
  };

  const Node& Body(Endpoint e) { return editor_.body().node(e.node); }
  bool IsOnlyRead(NodeId id) {
    return editor_.rw().uses(id).size() == 1 && !editor_.rw().IsKept(id) &&
           editor_.body().node(id).control_inputs.empty();
  }

  // Lets the nodes that take items off lists say what is known of their shapes.
  void StateItemShapes() {
    for (const NodeId id : editor_.body().NodeIds()) {
      const Node& n = editor_.body().node(id);
      const int v = n.op == "TensorListPopBack" ? editor_.VariableOf(n.inputs[0]) : -1;
      if (v < 0) continue;
      const Endpoint list = context_.node(loop_).inputs[static_cast<size_t>(v)];
      const Shape shape = ItemShapeOfList(context_, list);
      if (!shape.has_rank()) continue;
      const NodeId stated = AddConst(editor_.rw(), n.name + "/shape", ShapeTensor(shape));
      editor_.rw().SetInput(id, 1, {stated, 0});
    }
  }

  static Tensor ShapeTensor(const Shape& shape) {
    return Tensor::Vector<int32_t>({shape.dims().begin(), shape.dims().end()});
  }

  // Whether each iteration adds something to the variable, which nobody reads in the loop.
  bool AddsUp(int v) {
    const Endpoint argument = editor_.argument(v);
    const NodeId id = editor_.result(v).node;
    const Node& n = editor_.body().node(id);
    // op names: sums
    if (n.op != "AddV2" && n.op != "Add" && n.op != "AddN") return false;
    if (std::find(n.inputs.begin(), n.inputs.end(), argument) == n.inputs.end()) return false;
    return n.control_inputs.empty() && IsFloating(editor_.shapes().dtype(argument)) &&
           editor_.rw().uses(argument.node).size() == 1 && !editor_.DecidesEnd(v) &&
           IsOnlyNext(id, v);
  }

  // Whether nothing but the variable's next value depends on the node.
  bool IsOnlyNext(NodeId id, int v) {
    for (int other = 0; other < editor_.num_variables(); ++other) {
      if (other != v && editor_.result(other).node == id) return false;
    }
    std::vector<NodeId> todo = {id};
    while (!todo.empty()) {
      const NodeId now = todo.back();
      todo.pop_back();
      for (const Use& use : editor_.rw().uses(now)) {
        if (use.is_control() || editor_.body().node(use.reader).op != "Identity") return false;
        todo.push_back(use.reader);
      }
    }
    return true;
  }

  const Shape& ShapeOf(const Sum& sum) {
    return context_.shapes.shape(context_.node(loop_).inputs[static_cast<size_t>(sum.variable)]);
  }

  // FailedPrecondition with the reason if all terms stay in the loop.
  absl::Status ReadSum(Sum& sum) {
    const Shape& shape = ShapeOf(sum);
    absl::Status why;
    // Terms of an AddV2 may broadcast, and the sum of no terms has another shape then.
    const bool broadcasts = editor_.body().node(sum.node).op != "AddN";
    for (const Endpoint& e : editor_.body().node(sum.node).inputs) {
      if (e == editor_.argument(sum.variable)) continue;
      std::vector<Endpoint> rows;
      const Shape& term = broadcasts ? editor_.shapes().shape(e) : shape;
      absl::Status status = ReadTerm(e, term, rows);
      if (status.ok() && (!shape.IsComplete() || term != shape)) {
        status = WhyNotInBody(Body(e), "it is not known to have the shape of the sum");
      }
      (status.ok() ? sum.terms : sum.kept).push_back(e);
      if (status.ok()) {
        rows_.insert(rows.begin(), rows.end());
        sum.few_rows &= std::all_of(rows.begin(), rows.end(), [&](Endpoint row) {
          const int64_t n = operands_.at(row).dim(0);
          return n >= 0 && n <= kFewRowsOfTerm;
        });
      } else {
        why = std::move(status);
      }
    }
    return sum.terms.empty() ? why : absl::OkStatus();
  }

  Linearity LinearityOf(const Node& n) {
    if (n.op == "MatMul" && IsTrue(n, "transpose_a") && !IsTrue(n, "transpose_b")) {
      return {.over_rows = true, .inputs = {0, 1}};
    }
    const std::string* format = n.attr<std::string>("data_format");
    if (n.op == "BiasAddGrad" && (format == nullptr || *format == "NHWC")) {
      return {.over_rows = true, .inputs = {0}};
    }
    if (n.op == "Sum") {
      const Tensor* axes = Constant(n.inputs[1]);
      const auto values = axes == nullptr ? std::vector<int64_t>() : *IntegerValues(*axes);
      const bool rows = std::find(values.begin(), values.end(), 0) != values.end();
      return {.over_rows = rows, .inputs = {0}};
    }
    // op names: linear in the first input
    for (const char* op :
         {"Identity", "Reshape", "Squeeze", "ExpandDims", "Transpose", "Pad", "Neg"}) {
      if (n.op == op) return {.linear = true, .inputs = {0}};
    }
    if (n.op == "StridedSliceGrad") return {.linear = true, .inputs = {4}};
    Linearity all{.linear = true};
    for (size_t i = 0; i < n.inputs.size(); ++i) all.inputs.push_back(i);
    // op names: linear in all inputs, but for the axis of ConcatV2
    if (n.op == "Pack" || n.op == "AddN" || n.op == "AddV2") return all;
    if (n.op == "ConcatV2") {
      all.inputs.pop_back();
      return all;
    }
    return {};
  }

  const Tensor* Constant(Endpoint e) { return ConstantIn(editor_.body(), e); }

  // Whether the sum of it, of this shape, over all iterations is a function of the rows of all
  // iterations. Adds what is to be kept for that to `rows`. `depth`: how many ops are between it
  // and the sum.
  absl::Status ReadTerm(Endpoint e, const Shape& shape, std::vector<Endpoint>& rows,
                        int depth = 0) {
    const Node& n = Body(e);
    if (depth > kMostDepth) return WhyNotInBody(n, "too many ops are between it and the sum");
    if (!IsOnlyRead(n.id)) return WhyNotInBody(n, "the loop needs it otherwise, too");
    const Linearity linearity = LinearityOf(n);
    if (!linearity.over_rows && !linearity.linear) return WhyNotInBody(n, "it is no sum over rows");
    if (linearity.over_rows) ++progress_;
    const size_t first = rows.size();
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const auto& inputs = linearity.inputs;
      if (std::find(inputs.begin(), inputs.end(), i) == inputs.end()) {
        if (Constant(n.inputs[i]) == nullptr) return WhyNotInBody(n, "its parameters change");
      } else if (linearity.linear) {
        const Endpoint in = n.inputs[i];
        TENON_RETURN_IF_ERROR(ReadTerm(in, editor_.shapes().shape(in), rows, depth + 1));
      } else {
        const Shape operand = OperandOf(n, i, shape);
        if (operand.rank() != 2 || operand.dim(1) < 0) {
          return WhyNotInBody(n, "its operands are not known to be matrices");
        }
        if (operand.dim(0) > kMostRowsOfTerm) return WhyNotInBody(n, "its operands have many rows");
        rows.push_back(n.inputs[i]);
        operands_.insert_or_assign(n.inputs[i], operand);
      }
    }
    if (!linearity.over_rows) return absl::OkStatus();
    AgreeOnRows(absl::MakeConstSpan(rows).subspan(first));
    return CheckMemory(n, absl::MakeConstSpan(rows).subspan(first));
  }

  // The shape of input `i`, as far as it is known, of a sum over rows whose result has this shape.
  Shape OperandOf(const Node& n, size_t i, const Shape& result) {
    Shape operand = editor_.shapes().shape(n.inputs[i]);
    const int axis = n.op == "MatMul" ? static_cast<int>(i) : 0;
    if (n.op == "MatMul" && !operand.has_rank()) operand = Shape({-1, -1});
    const bool tells = n.op == "MatMul" || n.op == "BiasAddGrad";
    if (tells && operand.rank() == 2 && operand.dim(1) < 0 && axis < result.rank()) {
      operand.set_dim(1, result.dim(axis));
    }
    return operand;
  }

  // One operand's number of rows is the others', too.
  void AgreeOnRows(absl::Span<const Endpoint> operands) {
    int64_t most = -1;
    for (const Endpoint& e : operands) most = std::max(most, operands_.at(e).dim(0));
    for (const Endpoint& e : operands) operands_.at(e).set_dim(0, most);
  }

  // Whether lists of the operands are not much larger than those which the loop has.
  absl::Status CheckMemory(const Node& n, absl::Span<const Endpoint> operands) {
    int64_t has = 0, needs = 0;
    for (const Endpoint& e : operands) {
      const int64_t columns = operands_.at(e).dim(1);
      (IsItem(e) || rows_.contains(e) ? has : needs) += columns;
    }
    if (needs > kMostGrowth * has) return WhyNotInBody(n, "the operands would need much memory");
    return absl::OkStatus();
  }

  bool IsItem(Endpoint e) {
    const Node& n = Body(LoopEditor::WithoutIdentities(editor_.body(), e));
    return n.op == "TensorListPopBack" || n.op == "TensorListGetItem";
  }

  // A list to which each iteration appends `e`; what is outside of the loop gets all rows.
  Endpoint AddList(Endpoint e) {
    const DType dtype = editor_.shapes().dtype(e);
    const Shape& shape = operands_.at(e);
    const std::string name = absl::StrCat(Body(e).name, "/rows");
    const Endpoint dims_of = {context_.AddConst(name + "/shape", ShapeTensor(shape)), 0};
    Node empty;
    empty.name = name + "/empty";
    empty.op = "EmptyTensorList";
    empty.inputs = {dims_of, {context_.AddConst(name + "/size", Tensor::Scalar<int32_t>(-1)), 0}};
    empty.attrs["element_dtype"] = dtype;
    empty.attrs["shape_type"] = DType::kInt32;
    const NodeId begin = context_.rw.AddNode(std::move(empty));
    const int v = editor_.AddVariable(name, {begin, 0}, DType::kVariant);
    Node push;
    push.name = name;
    push.op = "TensorListPushBack";
    push.inputs = {editor_.argument(v), e};
    push.attrs["element_dtype"] = dtype;
    editor_.SetNext(v, {editor_.rw().AddNode(std::move(push)), 0});

    Node rows;
    rows.name = name;
    rows.op = "TensorListConcatV2";
    rows.inputs = {{loop_, v},
                   dims_of,
                   {context_.AddConst(name + "/lengths", Tensor::Vector<int64_t>({})), 0}};
    rows.attrs["element_dtype"] = dtype;
    rows.attrs["shape_type"] = DType::kInt32;
    return {context_.rw.AddNode(std::move(rows)), 0};
  }

  // All rows of `e`, outside of the loop.
  Endpoint RowsOf(Endpoint e) {
    const auto [it, added] = lists_.try_emplace(e);
    if (added) it->second = AddList(e);
    return it->second;
  }

  // The term outside of the loop, for all rows.
  Endpoint Copy(Endpoint e) {
    Node n = Body(e);
    const Linearity linearity = LinearityOf(n);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const auto& inputs = linearity.inputs;
      if (std::find(inputs.begin(), inputs.end(), i) == inputs.end()) {
        n.inputs[i] = {context_.AddConst(n.name, *Constant(n.inputs[i])), 0};
      } else {
        n.inputs[i] = linearity.linear ? Copy(n.inputs[i]) : RowsOf(n.inputs[i]);
      }
    }
    return {context_.rw.AddNode(std::move(n)), 0};
  }

  // Adds the terms to the variable where the loop's result was read.
  void AddBehind(const Sum& sum, const std::vector<Endpoint>& terms) {
    const Endpoint before = {loop_, sum.variable};
    const Endpoint total = AddSum(context_.rw, loop_, terms, before);
    context_.rw.ReplaceAllUses(before, total);
    context_.rw.SetInput(total.node, static_cast<int>(terms.size()), before);
  }

  // The last input is `first`.
  Endpoint AddSum(Rewriter& rw, NodeId named_after, const std::vector<Endpoint>& terms,
                  Endpoint first) {
    Node n;
    n.name = absl::StrCat(rw.node(named_after).name, "/sum");
    n.op = terms.size() == 1 ? "AddV2" : "AddN";
    n.inputs.assign(terms.begin(), terms.end());
    n.inputs.push_back(first);
    if (terms.size() > 1) n.attrs["N"] = static_cast<int64_t>(n.inputs.size());
    n.attrs["T"] =
        &rw == &context_.rw ? context_.shapes.dtype(terms[0]) : editor_.shapes().dtype(terms[0]);
    return {rw.AddNode(std::move(n)), 0};
  }

  RuleContext& context_;
  const NodeId loop_;
  LoopEditor editor_;
  std::vector<Sum> sums_;
  HashSet<Endpoint> rows_;             // what is kept for the sums so far
  HashMap<Endpoint, Shape> operands_;  // that are added up over their rows
  HashMap<Endpoint, Endpoint> lists_;  // by what is kept: all rows, outside of the loop
  int progress_ = 0;
};

Outcome MoveSums(RuleContext& context, NodeId id) {
  LoopSums sums(context, id);
  const absl::Status status = sums.Check();
  if (status.ok()) {
    sums.Apply();
    return Outcome::Fired();
  }
  if (sums.progress() == 0) return Outcome::NotMine();
  return Outcome::Skip(sums.progress(), std::string(status.message()), id);
}

const RuleRegistration loop_sums({
    .name = "MoveLoopSums",
    .doc = "products that every iteration of a loop adds to a sum, as gradients of weights, become "
           "one product after it",
    .phase = Phase::kFuse,
    .anchors = "While|StatelessWhile",
    .apply = MoveSums,
    .keeps_control_inputs = true,
    .after = "FuseRecurrence",
    .last = true,
});

}  // namespace
}  // namespace tenon
