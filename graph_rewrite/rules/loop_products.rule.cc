// A loop over the items of a list multiplies each by weights that do not change, as recurrent
// layers do with their inputs. The products of all items are one product before the loop.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/body_columns.h"
#include "graph_rewrite/dims.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/inline_body.h"
#include "graph_rewrite/loop_bounds.h"
#include "graph_rewrite/loop_editor.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/tensor_lists.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int kMostNodesOfWeights = 16;  // that compute weights
// Products with smaller weights cost little in the loop. More rows are multiplied as fast there,
// and what it reads then stays in the caches: with 64 rows, the gradient of an LSTM of 256 units
// loses 13 % if its items have 64 columns, and nothing if they have 512.
constexpr int64_t kFewRowsOfItem = 16;
constexpr int64_t kLeastElementsOfWeights = 16384;
constexpr int64_t kLeastElementsOfWeightsOfMoreRows = 131072;
constexpr int64_t kMostRowsOfItem = 32;

class LoopProducts {
 public:
  LoopProducts(RuleContext& context, NodeId loop)
      : context_(context), loop_(loop), editor_(context, loop) {}

  // FailedPrecondition with the reason if nothing leaves the loop.
  absl::Status Check() {
    TENON_RETURN_IF_ERROR(editor_.Open());
    bounds_ = ReadLoopBounds(context_, context_.node(loop_), editor_.cond(), editor_.body());
    absl::Status why = WhyNot("it multiplies no items of a list");
    for (const NodeId id : editor_.body().NodeIds()) {
      const Node& n = editor_.body().node(id);
      if (!IsProduct(n) || InBody(Item(n)).op != "TensorListGetItem") continue;
      ++progress_;
      absl::StatusOr<Product> product = Read(n);
      if (product.ok()) {
        products_.push_back(*std::move(product));
      } else {
        why = WhyNotInBody(n, product.status().message());
      }
    }
    return products_.empty() ? why : absl::OkStatus();
  }

  absl::Status Apply() {
    std::vector<Endpoint> arguments, inside;
    for (int v = 0; v < editor_.num_variables(); ++v) arguments.push_back(Outer(v));
    for (const Product& p : products_) inside.push_back(editor_.body().node(p.node).inputs[1]);
    TENON_ASSIGN_OR_RETURN(const std::vector<Endpoint> weights,
                           InlineBody(context_, editor_.body(), arguments, inside));
    for (size_t i = 0; i < products_.size(); ++i) {
      TENON_RETURN_IF_ERROR(Move(products_[i], weights[i]));
    }
    editor_.Commit();
    return absl::OkStatus();
  }

  int progress() const { return progress_; }

 private:
  struct Product {
    NodeId node = kNoNode;           // in the body
    NodeId item = kNoNode;           // the TensorListGetItem
    Endpoint tensor;                 // of all items, outside
    std::vector<int64_t> dims = {};  // of each product
  };

  const Node& InBody(Endpoint e) { return editor_.body().node(e.node); }

  static bool IsProduct(const Node& n) { return n.op == "MatMul" && !IsTrue(n, "transpose_a"); }
  Endpoint Item(const Node& n) {
    return LoopEditor::WithoutIdentities(editor_.body(), n.inputs[0]);
  }

  absl::StatusOr<Product> Read(const Node& n) {
    if (!n.control_inputs.empty()) return WhyNot("it has control inputs");
    if (!IsFloating(editor_.shapes().dtype({n.id, 0})))
      return WhyNot("its numbers are not floating");
    Product p{.node = n.id, .item = Item(n).node, .tensor = {}};
    const Node& get = editor_.body().node(p.item);
    const int list = editor_.VariableOf(get.inputs[0]);
    if (list < 0 || !editor_.IsInvariant(list)) return WhyNot("the list changes");
    p.tensor = TensorOfList(context_, Outer(list));
    if (p.tensor.node == kNoNode) return WhyNot("the list is not made from a tensor");
    TENON_RETURN_IF_ERROR(TakesAll(get.inputs[1], p.tensor));
    const Shape& items = context_.shapes.shape(p.tensor);
    const Shape& product = editor_.shapes().shape({n.id, 0});
    if (!items.has_rank() || items.rank() != 3) return WhyNot("the list's items are no matrices");
    if (items.dim(1) > kMostRowsOfItem) return WhyNot("an item has many rows");
    if (!product.has_rank() || product.dim(1) < 0)
      return WhyNot("the number of columns is not known");
    if (items.dim(2) < 0) return WhyNot("the size of an item is not known");
    const bool few_rows = items.dim(1) >= 0 && items.dim(1) <= kFewRowsOfItem;
    const int64_t least = few_rows ? kLeastElementsOfWeights : kLeastElementsOfWeightsOfMoreRows;
    if (items.dim(2) * product.dim(1) < least) return WhyNot("the weights are few");
    p.dims = {items.dim(1), product.dim(1)};
    int nodes = 0;
    if (!IsInvariant(n.inputs[1], nodes)) return WhyNot("the weights change in the loop");
    return p;
  }

  Endpoint Outer(int variable) const {
    return context_.node(loop_).inputs[static_cast<size_t>(variable)];
  }

  // Whether the index of an item goes through all of the tensor.
  absl::Status TakesAll(Endpoint index, Endpoint tensor) {
    TENON_RETURN_IF_ERROR(bounds_.status());
    const int v = editor_.VariableOf(index);
    if (v < 0 ||
        !CountsSteps(context_, context_.node(loop_), editor_.body(), static_cast<size_t>(v))) {
      return WhyNot("the item is not that of the step");
    }
    const Dimension steps = DimensionOf(context_, tensor, 0);
    for (const LoopBound& b : *bounds_) {
      const Dimension bound =
          b.value >= 0 ? Dimension{.value = b.value} : ScalarDimension(context_, b.outer);
      if (!(bound == steps)) return WhyNot("the loop may not take all items of the list");
    }
    return absl::OkStatus();
  }

  // Before the loop, it is computed even if there are no iterations.
  bool CannotFail(const Node& n) {
    const auto known = [&](Endpoint e) { return editor_.shapes().shape(e).IsComplete(); };
    if (!known({n.id, 0}) || !std::all_of(n.inputs.begin(), n.inputs.end(), known)) return false;
    if (FactsOf(n.op).elementwise) return IsFloating(editor_.shapes().dtype({n.id, 0}));
    // op names: those that only move what their shapes say
    for (const char* op : {"Identity", "Transpose", "Reshape", "ConcatV2", "Pack", "Split",
                           "SplitV", "Slice", "StridedSlice", "ExpandDims", "Squeeze"}) {
      if (n.op == op) return true;
    }
    return false;
  }

  // Whether it can be computed before the loop.
  bool IsInvariant(Endpoint e, int& nodes) {
    const int v = editor_.VariableOf(e);
    if (v >= 0) return editor_.IsInvariant(v);
    const Node& n = InBody(e);
    if (n.op == "Const") return true;
    if (++nodes > kMostNodesOfWeights || !n.control_inputs.empty() || !CannotFail(n)) return false;
    for (const Endpoint& in : n.inputs) {
      if (!IsInvariant(in, nodes)) return false;
    }
    return true;
  }

  absl::Status Move(const Product& p, Endpoint weights) {
    const Node n = editor_.body().node(p.node);
    const DType dtype = editor_.shapes().dtype({p.node, 0});
    Node product;
    product.name = n.name;
    product.op = "BatchMatMulV2";
    product.inputs = {p.tensor, weights};
    product.attrs["T"] = dtype;
    product.attrs["adj_y"] = IsTrue(n, "transpose_b");
    TENON_ASSIGN_OR_RETURN(const NodeId all, context_.AddNode(std::move(product)));
    const std::string name = context_.node(all).name;
    Node list;
    list.name = name + "/list";
    list.op = "TensorListFromTensor";
    list.inputs = {{all, 0}, AddDims(context_.rw, name, p.dims)};
    list.attrs["element_dtype"] = dtype;
    list.attrs["shape_type"] = DType::kInt32;
    const NodeId made = context_.rw.AddNode(std::move(list));
    const int v = editor_.AddVariable(name, {made, 0}, DType::kVariant);
    Node get = editor_.body().node(p.item);
    get.name = name;
    get.inputs = {editor_.argument(v), get.inputs[1], AddDims(editor_.rw(), name, p.dims)};
    const NodeId taken = editor_.rw().AddNode(std::move(get));
    editor_.Replace({p.node, 0}, {taken, 0});
    return absl::OkStatus();
  }

  static Endpoint AddDims(Rewriter& rw, const std::string& name, const std::vector<int64_t>& dims) {
    return {AddConst(rw, name + "/shape", Tensor::Vector<int32_t>({dims.begin(), dims.end()})), 0};
  }

  RuleContext& context_;
  const NodeId loop_;
  LoopEditor editor_;
  absl::StatusOr<std::vector<LoopBound>> bounds_ = std::vector<LoopBound>();
  std::vector<Product> products_;
  int progress_ = 0;
};

Outcome MoveProducts(RuleContext& context, NodeId id) {
  LoopProducts products(context, id);
  absl::Status status = products.Check();
  if (status.ok()) status = products.Apply();
  if (status.ok()) return Outcome::Fired();
  if (products.progress() == 0) return Outcome::NotMine();
  return Outcome::Skip(products.progress(), std::string(status.message()), id);
}

const RuleRegistration loop_products({
    .name = "MoveLoopProducts",
    .doc = "products of the items of a list with weights, in a loop over the items, become one "
           "product before it",
    .phase = Phase::kFuse,
    .anchors = "While|StatelessWhile",
    .apply = MoveProducts,
    .keeps_control_inputs = true,
    .after = "FuseRecurrence",
    .last = true,
});

}  // namespace
}  // namespace tenon
