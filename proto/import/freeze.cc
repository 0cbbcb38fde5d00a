// Freezes variables that are only read (declared in variables.h), and rewrites the uses of
// variables that the model changes.
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "env/containers.h"
#include "env/status.h"
#include "kernels/state/variable.h"
#include "ops/op.h"
#include "proto/import/references.h"
#include "proto/import/variables.h"

namespace tenon {
namespace {

bool ReadsHandle(const Node& n) {
  const ImportRole role = FactsOf(n.op).import_role;
  return role == ImportRole::kReads || role == ImportRole::kHint;
}

bool IsReference(const Node& variable) { return variable.op != "VarHandleOp"; }

// The variable, for each node, that output 0 is a handle of or a reference to.
class Handles {
 public:
  explicit Handles(const Draft& draft) : variable_(static_cast<size_t>(draft.end_id()), kNoNode) {
    for (NodeId id = 0; id < draft.end_id(); ++id) {
      const Node& n = draft.node(id);
      NodeId& v = variable_[static_cast<size_t>(id)];
      if (IsVariable(n)) {
        v = id;
      } else if (!n.inputs.empty()) {
        const NodeId from = Of(n.inputs[0]);
        if (from == kNoNode) continue;
        // An Identity of a reference passes its memory on: its readers see later changes.
        const bool passes = IsReference(draft.node(from)) && PassesReference(n.op);
        if (passes || n.op == "Identity") v = from;
      }
    }
  }
  NodeId Of(Endpoint e) const {
    const size_t id = static_cast<size_t>(e.node);
    return e.port == 0 && id < variable_.size() ? variable_[id] : kNoNode;
  }

 private:
  std::vector<NodeId> variable_;
};

// Whether the node assigns a variable the value that it has, as exporters write for statistics that
// inference leaves alone.
bool KeepsValue(const Draft& draft, const Handles& handles, const Node& n) {
  if (n.op != "AssignVariableOp" || n.inputs.size() < 2) return false;
  Endpoint e = n.inputs[1];
  const Node* source = &draft.node(e.node);
  // op names: both pass values on; the second several.
  while (source->op == "Identity" || source->op == "IdentityN") {
    if (static_cast<size_t>(e.port) >= source->inputs.size()) return false;
    e = source->inputs[static_cast<size_t>(e.port)];
    source = &draft.node(e.node);
  }
  if (source->op != "ReadVariableOp" || source->inputs.empty()) return false;
  const NodeId read = handles.Of(source->inputs[0]), written = handles.Of(n.inputs[0]);
  return read != kNoNode && written != kNoNode &&
         VariableName(draft.node(read)) == VariableName(draft.node(written));
}

class Freezer {
 public:
  Freezer(Draft& draft, VariableStore* store, const HashSet<std::string>& changed)
      : draft_(draft), store_(store), changed_(changed), live_(draft.Live()), handles_(draft) {}

  absl::Status Run() {
    const NodeId end = draft_.end_id();
    for (NodeId id = 0; id < end; ++id) {
      if (!live_[static_cast<size_t>(id)]) continue;
      const Node& n = draft_.node(id);
      if (IsVariable(n) && IsReference(n)) used_.insert(id);
      const std::string label = NodeLabel(n);  // Visit may change the node
      TENON_RETURN_IF_ERROR(Annotate(Visit(id), label));
    }
    for (GraphOutput& output : draft_.outputs) {
      const NodeId v = handles_.Of(output.source);
      if (v == kNoNode) continue;
      if (!IsReference(draft_.node(v))) {
        return Unimplemented("output '", output.name, "' is the handle of a variable");
      }
      if (!Changes(v)) continue;
      TENON_ASSIGN_OR_RETURN(output.source, ReadOf(v, output.source.node, output.source.node));
    }
    for (NodeId id : used_) TENON_RETURN_IF_ERROR(Changes(id) ? Keep(id) : Freeze(id));
    draft_.Forward(forward_);
    return absl::OkStatus();
  }

 private:
  bool Changes(NodeId variable) const {
    return changed_.contains(VariableName(draft_.node(variable)));
  }

  absl::Status Visit(NodeId id) {
    const std::string changes = ResourceOp(draft_.node(id).op);
    const size_t handles = changes.empty() ? 0 : HandleInputs(changes);
    bool becomes_resource_op = false;
    for (size_t i = 0; i < draft_.node(id).inputs.size(); ++i) {
      const Endpoint input = draft_.node(id).inputs[i];
      const NodeId variable = handles_.Of(input);
      if (variable == kNoNode) {
        if (i == 0) TENON_RETURN_IF_ERROR(UseArgument(id));
        continue;
      }
      used_.insert(variable);
      if (!IsReference(draft_.node(variable))) {
        TENON_RETURN_IF_ERROR(UseHandle(id, i, variable));
      } else if (i < handles) {
        becomes_resource_op = true;
        Node& n = draft_.node(id);
        n.inputs[i] = {variable, 0};
        if (input.node != variable) n.control_inputs.push_back(input.node);  // an earlier change
      } else {
        TENON_RETURN_IF_ERROR(ReadReference(id, i, variable));
      }
    }
    if (becomes_resource_op) MakeResourceOp(draft_.node(id), changes);
    return absl::OkStatus();
  }

  // A TensorFlow 1 variable is the tensor itself.
  absl::Status ReadReference(NodeId id, size_t input, NodeId variable) {
    Node& n = draft_.node(id);
    const NodeId source = n.inputs[input].node;
    if (!Changes(variable)) {
      if (n.op == "IsVariableInitialized") MakeTrue(n);
      return absl::OkStatus();
    }
    if (n.op == "IsVariableInitialized") {
      n.op = "VarIsInitializedOp";
      n.attrs.clear();
      n.inputs[0] = {variable, 0};
    } else if (n.op == "Identity") {
      TENON_RETURN_IF_ERROR(MakeRead(n, variable));
    } else {
      TENON_ASSIGN_OR_RETURN(const Endpoint read, ReadOf(variable, source, id));
      draft_.node(id).inputs[input] = read;
      return absl::OkStatus();
    }
    if (source != variable) n.control_inputs.push_back(source);
    return absl::OkStatus();
  }

  absl::Status UseHandle(NodeId id, size_t input, NodeId variable) {
    Node& n = draft_.node(id);
    if (n.op == "Identity") return absl::OkStatus();
    n.inputs[input] = {variable, 0};
    const bool changes = Changes(variable);
    if (!changes && n.op == "AssignVariableOp") {  // keeps the value
      n.op = "NoOp";
      n.inputs.clear();
      n.attrs.clear();
      return absl::OkStatus();
    }
    if (input != 0 || !ReadsHandle(n)) return absl::OkStatus();
    const DType* dtype = draft_.node(variable).attr<DType>("dtype");
    if (dtype == nullptr)
      return InvalidArgument("variable '", draft_.node(variable).name, "' has no dtype");
    if (n.op == "VarIsInitializedOp") {
      if (!changes) MakeTrue(n);
      return absl::OkStatus();
    }
    if (n.op == "DisableCopyOnRead") return absl::OkStatus();
    if (n.op == "ReadVariableOp") {
      if (changes) return MakeRead(n, variable);
      forward_[{id, 0}] = {variable, 0};
      n.op = "Identity";  // nothing waits for it
      n.attrs.clear();
      n.attrs["T"] = DType(*dtype);
      return absl::OkStatus();
    }
    // A read, and the op on its result.
    Endpoint value{variable, 0};
    if (changes) {
      TENON_ASSIGN_OR_RETURN(value, ReadOf(variable, variable, id));
    }
    return MakeOpOnValue(id, value, *draft_.node(variable).attr<DType>("dtype"));
  }

  // Gathers from a variable whose handle the function is given.
  absl::Status UseArgument(NodeId id) {
    const std::string& op = draft_.node(id).op;
    if (op != "ResourceGather" && op != "ResourceGatherNd") return absl::OkStatus();
    const DType* dtype = draft_.node(id).attr<DType>("dtype");
    if (dtype == nullptr) return InvalidArgument("has no dtype");
    const DType type = *dtype;
    Node read;
    read.name = draft_.node(id).name + "/read";
    read.op = "ReadVariableOp";
    read.attrs["dtype"] = DType(type);
    read.inputs = {draft_.node(id).inputs[0]};
    read.control_inputs = draft_.node(id).control_inputs;
    TENON_ASSIGN_OR_RETURN(const NodeId value, draft_.Add(std::move(read), /*effect=*/true));
    return MakeOpOnValue(id, {value, 0}, type);
  }

  absl::Status MakeOpOnValue(NodeId id, Endpoint value, DType dtype) {
    if (draft_.node(id).op == "ResourceGather" && draft_.node(id).inputs.size() == 2) {
      const int64_t* batch_dims = draft_.node(id).attr<int64_t>("batch_dims");
      const int axis = batch_dims == nullptr ? 0 : static_cast<int>(*batch_dims);
      TENON_ASSIGN_OR_RETURN(const NodeId axis_id,
                             draft_.AddScalar(draft_.node(id).name + "/axis", axis));
      Node& n = draft_.node(id);
      n.op = "GatherV2";
      n.attrs.erase("dtype");
      n.attrs.erase("validate_indices");
      n.attrs["batch_dims"] = axis;
      n.attrs["Tparams"] = DType(dtype);
      n.attrs["Taxis"] = DType::kInt32;
      n.inputs = {value, n.inputs[1], {axis_id, 0}};
      return absl::OkStatus();
    }
    Node& n = draft_.node(id);
    const bool gather = n.op == "ResourceGatherNd";
    n.op = gather ? "GatherNd" : "Shape";
    n.attrs.erase("dtype");
    n.attrs[gather ? "Tparams" : "T"] = DType(dtype);
    n.inputs[0] = value;
    return absl::OkStatus();
  }

  absl::Status MakeRead(Node& n, NodeId variable) {
    return tenon::MakeRead(n, {variable, 0}, draft_.node(variable));
  }

  // A new read for `reader`. It waits for the nodes that `reader` waits for, and for `source`, the
  // op that changed the variable (or the variable itself).
  absl::StatusOr<Endpoint> ReadOf(NodeId variable, NodeId source, NodeId reader) {
    Node read;
    read.name = draft_.node(reader).name + "/read";
    TENON_RETURN_IF_ERROR(MakeRead(read, variable));
    if (reader != source) read.control_inputs = draft_.node(reader).control_inputs;
    if (source != variable) read.control_inputs.push_back(source);
    TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(read), /*effect=*/true));
    return Endpoint{id, 0};
  }

  static void MakeTrue(Node& n) {
    n.op = "Const";
    n.inputs.clear();
    n.attrs.clear();
    n.attrs["dtype"] = DType::kBool;
    n.attrs["value"] = Tensor::Scalar<bool>(true);
  }

  absl::Status Keep(NodeId id) {
    Node& n = draft_.node(id);
    Tensor initial;
    if (store_ != nullptr) {
      absl::StatusOr<Tensor> value = store_->Value(n);
      if (!value.ok() && !absl::IsNotFound(value.status())) return value.status();
      if (value.ok()) initial = *std::move(value);
    }
    const DType* dtype = n.attr<DType>("dtype");
    const Shape* shape = n.attr<Shape>("shape");
    AttrMap attrs;
    attrs["shared_name"] = VariableName(n);
    if (dtype != nullptr) attrs["dtype"] = DType(*dtype);
    attrs["shape"] = shape == nullptr ? Shape::Unknown() : Shape(*shape);
    if (initial.valid()) attrs[kInitialValueAttr] = std::move(initial);
    n.op = "VarHandleOp";
    n.attrs = std::move(attrs);
    return absl::OkStatus();
  }

  absl::Status Freeze(NodeId id) {
    Node& n = draft_.node(id);
    if (store_ == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat(NodeLabel(n),
                       " is a variable, and a GraphDef holds no values of variables: "
                       "load the SavedModel, or freeze the graph"));
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
  const HashSet<std::string>& changed_;
  const std::vector<bool> live_;
  const Handles handles_;
  HashSet<NodeId> used_;
  HashMap<Endpoint, Endpoint> forward_;
};

}  // namespace

void CollectChangedVariables(const Draft& draft, HashSet<std::string>& changed) {
  const std::vector<bool> live = draft.Live();
  const Handles handles(draft);
  for (NodeId id = 0; id < draft.end_id(); ++id) {
    if (!live[static_cast<size_t>(id)]) continue;
    const Node& n = draft.node(id);
    const std::string changes = ResourceOp(n.op);
    const size_t references = changes.empty() ? 0 : HandleInputs(changes);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const NodeId variable = handles.Of(n.inputs[i]);
      if (variable == kNoNode) continue;
      const bool reads = IsReference(draft.node(variable))
                             ? i >= references
                             : n.op == "Identity" || (i == 0 && ReadsHandle(n)) ||
                                   (i == 0 && KeepsValue(draft, handles, n));
      if (!reads) changed.insert(VariableName(draft.node(variable)));
    }
  }
}

absl::Status FreezeVariables(Draft& draft, VariableStore* store,
                             const HashSet<std::string>& changed) {
  return Freezer(draft, store, changed).Run();
}

}  // namespace tenon
