#include "proto/import/references.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "kernels/state/variable.h"
#include "ops/op.h"
#include "proto/import/variables.h"

namespace tenon {

// op names: TensorFlow 1's ops have no kernels; the spelling maps them.
std::string ResourceOp(absl::string_view op) {
  if (op == "Assign" || op == "AssignAdd" || op == "AssignSub")
    return absl::StrCat(op, "VariableOp");
  if (absl::StartsWith(op, "Scatter") && op != "ScatterNd" &&
      !absl::StartsWith(op, "ScatterNdNonAliasing")) {
    return absl::StrCat("Resource", op);
  }
  if (absl::StartsWith(op, "Apply") || absl::StartsWith(op, "SparseApply") ||
      op == "StridedSliceAssign") {
    return absl::StrCat("Resource", op);
  }
  return op == "CountUpTo" ? "ResourceCountUpTo" : "";
}

bool PassesReference(absl::string_view op) { return op != "CountUpTo" && !ResourceOp(op).empty(); }

size_t HandleInputs(const std::string& resource_op) {
  const OpLookup op = FindOp(resource_op);
  if (!op) return 1;
  size_t n = 0;
  for (const ArgSpec& arg : op.info->signature.inputs) n += arg.dtype == DType::kResource;
  return n;
}

void MakeResourceOp(Node& n, const std::string& op) {
  n.op = op;
  if (absl::StartsWith(op, "Assign") ||
      (absl::StartsWith(op, "ResourceScatter") && !absl::StartsWith(op, "ResourceScatterNd"))) {
    if (const DType* dtype = n.attr<DType>("T")) n.attrs["dtype"] = DType(*dtype);
    n.attrs.erase("T");
  }
  // A TensorFlow 1 variable may change its shape unless told to keep it; ours never does.
  n.attrs.erase("validate_shape");
  if (absl::StartsWith(op, "Assign") || op == "ResourceStridedSliceAssign") {
    n.attrs.erase("use_locking");
  }
}

absl::Status MakeRead(Node& n, Endpoint handle, const Node& variable) {
  const DType* dtype = variable.attr<DType>("dtype");
  if (dtype == nullptr) return InvalidArgument("variable '", variable.name, "' has no dtype");
  const DType type = *dtype;
  const Shape* shape = variable.attr<Shape>("shape");
  const Shape known = shape != nullptr && shape->IsComplete() ? *shape : Shape::Unknown();
  n.op = "ReadVariableOp";
  n.attrs.clear();
  n.attrs["dtype"] = DType(type);
  if (known.IsComplete()) n.attrs[kVariableShapeAttr] = Shape(known);
  n.inputs = {handle};
  return absl::OkStatus();
}

namespace {

class References {
 public:
  explicit References(Draft& draft) : draft_(draft), before_(draft.end_id()) {
    for (NodeId id = 0; id < before_; ++id) {
      const Node& n = draft_.node(id);
      for (size_t i = 0; i < n.inputs.size(); ++i) readers_[n.inputs[i]].emplace_back(id, i);
    }
    for (NodeId id = 0; id < before_; ++id) {
      const Node& n = draft_.node(id);
      if (IsVariable(n) && n.op != "VarHandleOp") Follow({{id, 0}, {id, 0}, id, {}, false});
    }
  }

  // Whether something is changed in a branch or a loop.
  bool ChangesBehind() const { return changes_behind_; }

  absl::Status Replace() {
    for (const Use& use : uses_) {
      for (const auto& [reader, input] : readers_[use.reference]) {
        TENON_RETURN_IF_ERROR(Annotate(ReplaceIn(use, reader, input), draft_.node(reader).name));
      }
    }
    for (GraphOutput& output : draft_.outputs) {
      for (const Use& use : uses_) {
        if (output.source != use.reference) continue;
        TENON_ASSIGN_OR_RETURN(output.source, Read(use, use.reference.node));
        break;
      }
    }
    HashMap<NodeId, Node> variables;
    for (const Use& use : uses_) variables.emplace(use.variable, draft_.node(use.variable));
    for (const Use& use : uses_) {
      Node& n = draft_.node(use.reference.node);
      if (use.reference.node == use.variable) {
        MakeHandle(n);
      } else if (Passes(n)) {
        n.attrs["T"] = DType::kResource;
      } else if (n.op != "Identity") {
        MakeResourceOp(n, ResourceOp(n.op));
      } else {  // for what waits for it
        TENON_RETURN_IF_ERROR(MakeRead(n, use.handle, variables.at(use.variable)));
        Wait(n, use);
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Use {
    Endpoint reference;  // to the variable
    Endpoint handle;     // that takes its place
    NodeId variable = kNoNode;
    std::vector<NodeId> waits;  // for earlier changes, and what an Identity waits for
    bool behind = false;        // a Switch or an Enter
  };

  // op names: of TensorFlow 1's dataflow.
  static bool Passes(const Node& n) { return n.op == "Switch" || n.op == "Enter"; }

  static bool Changes(const Node& n, size_t input) {
    const std::string op = ResourceOp(n.op);
    return !op.empty() && input < HandleInputs(op);
  }

  void Follow(Use first) {
    std::vector<Use> from = {first};
    while (!from.empty()) {
      const Use use = from.back();
      from.pop_back();
      if (!seen_.insert(use.reference).second) continue;
      uses_.push_back(use);
      for (const auto& [reader, input] : readers_[use.reference]) {
        const Node& n = draft_.node(reader);
        if (Passes(n) && input == 0) {
          for (const int port : {0, 1}) {
            if (port == 1 && n.op == "Enter") continue;
            from.push_back({{reader, port}, {reader, port}, use.variable, use.waits, true});
          }
        } else if (n.op == "Identity") {
          // It passes the variable's memory on: its readers see later changes.
          std::vector<NodeId> waits = use.waits;
          waits.insert(waits.end(), n.control_inputs.begin(), n.control_inputs.end());
          from.push_back({{reader, 0}, use.handle, use.variable, std::move(waits), use.behind});
        } else if (Changes(n, input)) {
          changes_behind_ |= use.behind;
          if (input == 0 && PassesReference(n.op)) {
            from.push_back({{reader, 0}, use.handle, use.variable, {reader}, use.behind});
          }
        }
      }
    }
  }

  absl::Status ReplaceIn(const Use& use, NodeId reader, size_t input) {
    Node& n = draft_.node(reader);
    if (n.op == "Identity") return absl::OkStatus();
    if ((Passes(n) && input == 0) || Changes(n, input)) {
      n.inputs[input] = use.handle;
      Wait(n, use);
      return absl::OkStatus();
    }
    if (n.op == "IsVariableInitialized") {
      n.op = "VarIsInitializedOp";
      n.attrs.clear();
      n.inputs[0] = use.handle;
      Wait(n, use);
      return absl::OkStatus();
    }
    TENON_ASSIGN_OR_RETURN(const Endpoint read, Read(use, reader));
    draft_.node(reader).inputs[input] = read;
    return absl::OkStatus();
  }

  static void Wait(Node& n, const Use& use) {
    n.control_inputs.insert(n.control_inputs.end(), use.waits.begin(), use.waits.end());
  }

  // Waits for what `reader` waits for.
  absl::StatusOr<Endpoint> Read(const Use& use, NodeId reader) {
    Node read;
    read.name = absl::StrCat(draft_.node(reader).name, "/read");
    TENON_RETURN_IF_ERROR(MakeRead(read, use.handle, draft_.node(use.variable)));
    if (reader != use.reference.node) read.control_inputs = draft_.node(reader).control_inputs;
    Wait(read, use);
    TENON_ASSIGN_OR_RETURN(const NodeId id, draft_.Add(std::move(read), /*effect=*/true));
    return Endpoint{id, 0};
  }

  static void MakeHandle(Node& n) {
    AttrMap attrs;
    for (const char* name : {"dtype", "shape", "container"}) {
      if (const auto it = n.attrs.find(name); it != n.attrs.end()) attrs[name] = it->second;
    }
    attrs["shared_name"] = VariableName(n);
    attrs.erase("container");
    n.op = "VarHandleOp";
    n.attrs = std::move(attrs);
  }

  Draft& draft_;
  const NodeId before_;
  HashMap<Endpoint, std::vector<std::pair<NodeId, size_t>>> readers_;
  HashSet<Endpoint> seen_;
  std::vector<Use> uses_;
  bool changes_behind_ = false;
};

}  // namespace

absl::Status ReferencesToHandles(Draft& draft) {
  References references(draft);
  return references.ChangesBehind() ? references.Replace() : absl::OkStatus();
}

}  // namespace tenon
