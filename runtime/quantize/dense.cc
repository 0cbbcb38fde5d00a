#include "runtime/quantize/dense.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/quantized.h"
#include "kernels/matmul/einsum_equation.h"

namespace tenon {
namespace {

using quantized::AttrOr;

// The number of leading weight dimensions that are summed over; 0 for another product.
int SummedDims(const RuleContext& context, const Node& n, int rank, int weights_rank) {
  if (n.op == "BatchMatMulV2") {
    const bool plain = !AttrOr(n, "adj_x", false) && !AttrOr(n, "adj_y", false);
    return plain && weights_rank == 2 && rank >= 3 ? 1 : 0;
  }
  const auto labels = ParseEinsum(AttrOr<std::string>(n, "equation", ""), {rank, weights_rank});
  if (!labels.ok()) return 0;
  const std::vector<int>&x = labels->inputs[0], &w = labels->inputs[1], &y = labels->output;
  const auto distinct = [](const std::vector<int>& v) {
    return HashSet<int>(v.begin(), v.end()).size() == v.size();
  };
  if (!distinct(x) || !distinct(w) || !distinct(y)) return 0;
  for (int k = 1; k < rank && k < weights_rank; ++k) {
    std::vector<int> expected(x.begin(), x.end() - k);
    expected.insert(expected.end(), w.begin() + k, w.end());
    if (expected == y && std::equal(w.begin(), w.begin() + k, x.end() - k)) return k;
  }
  return 0;
}

class Flattening {
 public:
  Flattening(RuleContext& context, NodeId id) : context_(context), id_(id) {}

  absl::Status Run() {
    const Node& n = context_.node(id_);
    const Tensor* const weights = context_.Constant(n.inputs[1]);
    const int rank = context_.shapes.rank(n.inputs[0]);
    if (weights == nullptr || weights->dtype() != DType::kFloat || rank < 2 ||
        n.inputs.size() != 2 || !n.control_inputs.empty() ||
        context_.Constant(n.inputs[0]) != nullptr) {
      return absl::OkStatus();
    }
    const int weights_rank = weights->shape().rank();
    const int summed = SummedDims(context_, n, rank, weights_rank);
    if (summed == 0 || weights->num_elements() == 0) return absl::OkStatus();
    name_ = n.name;
    const Endpoint x = n.inputs[0];
    int64_t terms = 1;
    for (int d = 0; d < summed; ++d) terms *= weights->shape()[d];
    std::vector<int32_t> tail;
    for (int d = summed; d < weights_rank; ++d) {
      tail.push_back(static_cast<int32_t>(weights->shape()[d]));
    }
    TENON_ASSIGN_OR_RETURN(const Tensor matrix,
                           weights->Reshaped(Shape({terms, weights->num_elements() / terms})));
    TENON_ASSIGN_OR_RETURN(const Endpoint rows,
                           Reshape(x, Vector({-1, static_cast<int32_t>(terms)})));
    TENON_ASSIGN_OR_RETURN(
        Endpoint y, Add("MatMul", {rows, {context_.AddConst(name_ + "/matrix", matrix), 0}}, "T"));
    NodeId last = id_;
    TENON_RETURN_IF_ERROR(TakeBias(tail, y, last));
    TENON_ASSIGN_OR_RETURN(const Endpoint shape, ResultShape(x, rank - summed, tail));
    TENON_ASSIGN_OR_RETURN(const Endpoint result, Reshape(y, shape));
    const Endpoint old_weights = n.inputs[1];
    context_.rw.ReplaceNode(last, result);
    for (NodeId node : {id_, old_weights.node}) {
      if (context_.graph().Has(node)) context_.RemoveIfDead(node);
    }
    return absl::OkStatus();
  }

 private:
  Endpoint Vector(std::vector<int32_t> values) {
    return {context_.AddConst(name_ + "/shape", Tensor::Vector(std::move(values))), 0};
  }
  absl::StatusOr<Endpoint> Add(const char* op, std::vector<Endpoint> inputs, const char* type,
                               DType dtype = DType::kFloat) {
    Node n;
    n.name = absl::StrCat(name_, "/", op);
    n.op = op;
    n.inputs.assign(inputs.begin(), inputs.end());
    n.attrs[type] = dtype;
    if (n.op == "ConcatV2") n.attrs["N"] = static_cast<int64_t>(inputs.size() - 1);
    if (n.op == "Slice") n.attrs["Index"] = DType::kInt32;
    TENON_ASSIGN_OR_RETURN(const NodeId id, context_.AddNode(std::move(n)));
    return Endpoint{id, 0};
  }
  absl::StatusOr<Endpoint> Reshape(Endpoint e, Endpoint shape) {
    return Add("Reshape", {e, shape}, "T");
  }

  // [x.shape[:lead], tail]
  absl::StatusOr<Endpoint> ResultShape(Endpoint x, int lead, const std::vector<int32_t>& tail) {
    const Shape& known = context_.shapes.shape(x);
    std::vector<int32_t> dims;
    int unknown = 0;
    for (int d = 0; d < lead; ++d) {
      dims.push_back(static_cast<int32_t>(known[d]));
      unknown += known[d] < 0;
    }
    dims.insert(dims.end(), tail.begin(), tail.end());
    if (unknown <= 1) return Vector(std::move(dims));
    TENON_ASSIGN_OR_RETURN(const Endpoint all, Add("Shape", {x}, "T"));
    TENON_ASSIGN_OR_RETURN(const Endpoint front,
                           Add("Slice", {all, Vector({0}), Vector({lead})}, "T", DType::kInt32));
    const Endpoint axis{context_.AddConst(name_ + "/axis", Tensor::Scalar<int32_t>(0)), 0};
    return Add("ConcatV2", {front, Vector(tail), axis}, "T", DType::kInt32);
  }

  // y + b, if the only reader adds a constant of the tail's shape; `last` is then the reader.
  absl::Status TakeBias(const std::vector<int32_t>& tail, Endpoint& y, NodeId& last) {
    const NodeId reader = context_.OnlyReader(id_);
    if (reader == kNoNode) return absl::OkStatus();
    const Node& add = context_.node(reader);
    const bool bias_add =
        add.op == "BiasAdd" && AttrOr<std::string>(add, "data_format", "NHWC") == "NHWC";
    if ((!bias_add && add.op != "AddV2" && add.op != "Add") || !add.control_inputs.empty()) {
      return absl::OkStatus();
    }
    const Endpoint other = add.inputs[add.inputs[0].node == id_ ? 1 : 0];
    const Tensor* const bias = context_.Constant(other);
    if (bias == nullptr || bias->dtype() != DType::kFloat) return absl::OkStatus();
    const Shape wanted(std::vector<int64_t>(tail.begin(), tail.end()));
    if (bias->shape() != wanted) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const Tensor row, bias->Reshaped(Shape({bias->num_elements()})));
    TENON_ASSIGN_OR_RETURN(y,
                           Add("BiasAdd", {y, {context_.AddConst(name_ + "/bias", row), 0}}, "T"));
    last = reader;
    return absl::OkStatus();
  }

  RuleContext& context_;
  const NodeId id_;
  std::string name_;
};

}  // namespace

absl::Status FlattenDenseLayers(RuleContext& context, DenseLayers which) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, context.graph().TopologicalOrder());
  for (NodeId id : order) {
    if (!context.graph().Has(id)) continue;
    const std::string& op = context.node(id).op;
    const bool product = op == "BatchMatMulV2" && which == DenseLayers::kAll;
    if (op != "Einsum" && !product) continue;
    TENON_RETURN_IF_ERROR(Flattening(context, id).Run());
  }
  return absl::OkStatus();
}

}  // namespace tenon
