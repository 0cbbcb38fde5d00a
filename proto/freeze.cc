// Freezing of variables (declared in variables.h).
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "env/status.h"
#include "proto/variables.h"

namespace tenon {
namespace {

bool ChangesReferenceVariable(absl::string_view op) {
  return absl::StartsWith(op, "Assign") || absl::StartsWith(op, "Scatter") ||
         absl::StartsWith(op, "Apply") || absl::StartsWith(op, "SparseApply") ||
         op == "StridedSliceAssign" || op == "CountUpTo";
}

class Freezer {
 public:
  Freezer(Draft& draft, VariableStore* store)
      : draft_(draft), store_(store), live_(draft.Live()), variable_(live_.size(), kNoNode) {}

  absl::Status Run() {
    const NodeId end = draft_.end_id();
    for (NodeId id = 0; id < end; ++id) {
      if (!live_[static_cast<size_t>(id)]) continue;
      TENON_RETURN_IF_ERROR(Annotate(
          Visit(id), absl::StrCat("node '", draft_.node(id).name, "' (", draft_.node(id).op, ")")));
    }
    for (const GraphOutput& output : draft_.outputs) {
      const NodeId v = variable_[static_cast<size_t>(output.source.node)];
      if (v != kNoNode && draft_.node(v).op == "VarHandleOp") {
        return Unimplemented("output '", output.name, "' is the handle of a variable");
      }
    }
    for (NodeId id : used_) TENON_RETURN_IF_ERROR(Freeze(id));
    draft_.Forward(forward_);
    return absl::OkStatus();
  }

 private:
  absl::Status Visit(NodeId id) {
    Node& n = draft_.node(id);
    if (IsVariable(n)) {
      variable_[static_cast<size_t>(id)] = id;
      if (n.op != "VarHandleOp") used_.insert(id);
      return absl::OkStatus();
    }
    const auto inputs = n.inputs;  // a read may change the node, or move it
    for (size_t i = 0; i < inputs.size(); ++i) {
      const NodeId variable = variable_[static_cast<size_t>(inputs[i].node)];
      if (variable == kNoNode) continue;
      if (draft_.node(variable).op != "VarHandleOp") {
        TENON_RETURN_IF_ERROR(ReadReference(draft_.node(id), i, variable));
      } else {
        TENON_RETURN_IF_ERROR(ReadHandle(id, i, variable));
      }
    }
    return absl::OkStatus();
  }

  // A TensorFlow 1 variable is itself the tensor.
  absl::Status ReadReference(Node& n, size_t input, NodeId variable) {
    if (n.op == "IsVariableInitialized") {
      MakeTrue(n);
    } else if (input == 0 && ChangesReferenceVariable(n.op)) {
      return Changes(variable);
    }
    return absl::OkStatus();
  }

  absl::Status ReadHandle(NodeId id, size_t input, NodeId variable) {
    Node& n = draft_.node(id);
    const DType* dtype = draft_.node(variable).attr<DType>("dtype");
    if (n.op == "VarIsInitializedOp") {
      MakeTrue(n);
      return absl::OkStatus();
    }
    if (n.op == "Identity") {
      variable_[static_cast<size_t>(id)] = variable;
      return absl::OkStatus();
    }
    if (input != 0 || dtype == nullptr) return Changes(variable);
    if (n.op == "ReadVariableOp") {
      forward_[{id, 0}] = {variable, 0};
    } else if (n.op == "ResourceGather" && n.inputs.size() == 2) {
      const int64_t* batch_dims = n.attr<int64_t>("batch_dims");
      const int axis = batch_dims == nullptr ? 0 : static_cast<int>(*batch_dims);
      TENON_ASSIGN_OR_RETURN(const NodeId axis_id, draft_.AddScalar(n.name + "/axis", axis));
      Node& gather = draft_.node(id);  // AddScalar may have moved it
      gather.op = "GatherV2";
      gather.attrs.erase("dtype");
      gather.attrs.erase("validate_indices");
      gather.attrs["batch_dims"] = axis;
      gather.attrs["Tparams"] = DType(*draft_.node(variable).attr<DType>("dtype"));
      gather.attrs["Taxis"] = DType::kInt32;
      gather.inputs = {{variable, 0}, gather.inputs[1], {axis_id, 0}};
    } else if (n.op == "ResourceGatherNd" && n.inputs.size() == 2) {
      n.op = "GatherNd";
      n.attrs.erase("dtype");
      n.attrs["Tparams"] = DType(*dtype);
      n.inputs[0] = {variable, 0};
    } else if (n.op == "VariableShape") {
      n.op = "Shape";
      n.attrs["T"] = DType(*dtype);
      n.inputs[0] = {variable, 0};
    } else {
      return Changes(variable);
    }
    used_.insert(variable);
    return absl::OkStatus();
  }

  absl::Status Changes(NodeId variable) const {
    return Unimplemented("uses variable '", draft_.node(variable).name,
                         "' other than by reading it");
  }

  static void MakeTrue(Node& n) {
    n.op = "Const";
    n.inputs.clear();
    n.attrs.clear();
    n.attrs["dtype"] = DType::kBool;
    n.attrs["value"] = Tensor::Scalar<bool>(true);
  }

  absl::Status Freeze(NodeId id) {
    Node& n = draft_.node(id);
    if (store_ == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("node '", n.name, "' (", n.op,
                       ") is a variable, and a GraphDef holds no values of variables: load the "
                       "SavedModel, or freeze the graph"));
    }
    TENON_ASSIGN_OR_RETURN(Tensor value, store_->Value(n));
    const DType dtype = value.dtype();
    n.op = "Const";
    n.attrs.clear();
    n.attrs["dtype"] = DType(dtype);
    n.attrs["value"] = std::move(value);
    return absl::OkStatus();
  }

  Draft& draft_;
  VariableStore* const store_;
  const std::vector<bool> live_;
  std::vector<NodeId> variable_;  // by node: the variable that its output is a handle of
  absl::flat_hash_set<NodeId> used_;
  absl::flat_hash_map<Endpoint, Endpoint> forward_;
};

}  // namespace

absl::Status FreezeVariables(Draft& draft, VariableStore* store) {
  return Freezer(draft, store).Run();
}

}  // namespace tenon
