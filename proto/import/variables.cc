#include "proto/import/variables.h"

#include <google/protobuf/arena.h>

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "ops/op.h"
#include "proto/checkpoint/bundle_slices.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/messages/tenon_saved_model.pb.h"

namespace tenon {
namespace {

// The strings of a constant; null where it is none.
const Tensor* ConstStrings(const Draft& draft, Endpoint e) {
  e = draft.SkipIdentities(e);
  if (draft.node(e.node).op != "Const") return nullptr;
  const Tensor* t = draft.node(e.node).attr<Tensor>("value");
  return t != nullptr && t->dtype() == DType::kString ? t : nullptr;
}

// A part of a partitioned variable, as "300 3 0,125:-": the sizes of the whole, then start and size
// in each dimension, or "-" for the whole dimension.
std::vector<std::pair<int64_t, int64_t>> ExtentsOf(absl::string_view spec) {
  std::vector<std::pair<int64_t, int64_t>> extents;
  for (absl::string_view extent : absl::StrSplit(spec.substr(spec.rfind(' ') + 1), ':')) {
    std::pair<int64_t, int64_t> e = {0, -1};
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(extent, absl::MaxSplits(',', 1));
    if (extent != "-" &&
        (!absl::SimpleAtoi(parts.first, &e.first) || !absl::SimpleAtoi(parts.second, &e.second))) {
      return {};  // matches no key
    }
    extents.push_back(e);
  }
  return extents;
}

}  // namespace

bool IsVariable(const Node& node) {
  const ImportRole role = FactsOf(node.op).import_role;
  return role == ImportRole::kHandle || role == ImportRole::kReference;
}

std::string VariableName(const Node& node) {
  const std::string* shared = node.attr<std::string>("shared_name");
  const std::string* container = node.attr<std::string>("container");
  const std::string& name = shared != nullptr && !shared->empty() ? *shared : node.name;
  return container == nullptr || container->empty() ? name : absl::StrCat(*container, "/", name);
}

absl::Status VariableStore::Open() {
  if (prefix_.empty()) {
    return absl::FailedPreconditionError("the model has variables: load it from its folder");
  }
  TENON_ASSIGN_OR_RETURN(bundle_, Bundle::Open(prefix_, options_));
  if (!restore_op_.empty()) TENON_RETURN_IF_ERROR(FollowRestoreOp());
  return ReadObjectGraph();
}

absl::Status VariableStore::FollowRestoreOp() {
  absl::StatusOr<Draft> draft = importer_.ImportGraph({}, {}, {restore_node()});
  if (!draft.ok()) return Annotate(draft.status(), "restore op");
  for (NodeId id = 0; id < draft->end_id(); ++id) {
    const Node& assign = draft->node(id);
    if (assign.op != "AssignVariableOp" && assign.op != "Assign") continue;
    if (assign.inputs.size() != 2) continue;
    const Node& variable = draft->node(draft->SkipIdentities(assign.inputs[0]).node);
    const Endpoint value = draft->SkipIdentities(assign.inputs[1]);
    const Node& restore = draft->node(value.node);
    if (!IsVariable(variable) || restore.op != "RestoreV2" || restore.inputs.size() != 3) continue;
    const Tensor* names = ConstStrings(*draft, restore.inputs[1]);
    const Tensor* slices = ConstStrings(*draft, restore.inputs[2]);
    if (names == nullptr || value.port >= names->num_elements()) continue;
    std::string key = names->flat<std::string>()[static_cast<size_t>(value.port)];
    if (slices != nullptr && value.port < slices->num_elements()) {
      const std::string& slice = slices->flat<std::string>()[static_cast<size_t>(value.port)];
      if (!slice.empty()) key = SliceKey(key, ExtentsOf(slice));
    }
    restored_[VariableName(variable)] = std::move(key);
  }
  return FollowCopies();
}

absl::Status VariableStore::FollowCopies() {
  const BodyIndex& top = importer_.top();
  const auto op_of = [&](absl::string_view node) -> absl::string_view {
    const auto found = top.by_name.find(node);
    if (found == top.by_name.end()) return "";
    return top.nodes[static_cast<size_t>(found->second)]->op();
  };
  std::vector<std::string> copies;
  for (const tf::NodeDef* def : top.nodes) {
    if (def->op() == "AssignVariableOp" && def->input_size() >= 2 &&
        op_of(def->input(1)) == "ReadVariableOp") {
      copies.push_back(def->name());
    }
  }
  if (copies.empty()) return absl::OkStatus();
  const absl::StatusOr<Draft> draft = importer_.ImportGraph({}, {}, copies);
  if (!draft.ok()) return Annotate(draft.status(), "copies of variables");
  for (NodeId id = 0; id < draft->end_id(); ++id) {
    const Node& assign = draft->node(id);
    if (assign.op != "AssignVariableOp" || assign.inputs.size() != 2) continue;
    const Node& copy = draft->node(draft->SkipIdentities(assign.inputs[0]).node);
    const Node& read = draft->node(draft->SkipIdentities(assign.inputs[1]).node);
    if (!IsVariable(copy) || read.op != "ReadVariableOp" || read.inputs.size() != 1) continue;
    const Node& original = draft->node(draft->SkipIdentities(read.inputs[0]).node);
    const auto key = restored_.find(VariableName(copy));
    if (IsVariable(original) && key != restored_.end()) {
      restored_.emplace(VariableName(original), key->second);
    }
  }
  return absl::OkStatus();
}

absl::Status VariableStore::ReadObjectGraph() {
  constexpr char kKey[] = "_CHECKPOINTABLE_OBJECT_GRAPH";
  const Bundle::Entry* entry = bundle_->Find(kKey);
  if (entry == nullptr || entry->dtype != DType::kString) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Tensor text, bundle_->Load(kKey));
  google::protobuf::Arena arena;
  auto& graph = *google::protobuf::Arena::CreateMessage<tf::TrackableObjectGraph>(&arena);
  if (text.num_elements() != 1 || !graph.ParseFromString(*text.data<std::string>())) {
    return InvalidArgument(prefix_, ": the object graph is damaged");
  }
  for (const auto& object : graph.nodes()) {
    for (const auto& attribute : object.attributes()) {
      if (attribute.full_name().empty()) continue;
      auto [it, fresh] = by_object_.emplace(attribute.full_name(), attribute.checkpoint_key());
      if (!fresh && it->second != attribute.checkpoint_key()) it->second.clear();  // ambiguous
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> VariableStore::Key(const std::string& variable,
                                               const std::string& node) const {
  if (auto it = restored_.find(variable); it != restored_.end()) {
    return it->second;
  }
  for (const std::string& name : {variable, node}) {
    auto it = by_object_.find(name);
    if (it != by_object_.end() && !it->second.empty()) return it->second;
    if (bundle_->Find(name) != nullptr) return name;
  }
  return NotFound("the checkpoint ", prefix_, " does not contain it");
}

absl::StatusOr<Tensor> VariableStore::Initialized(const std::string& variable) {
  if (!initial_.has_value()) {
    TENON_ASSIGN_OR_RETURN(initial_, importer_.ImportGraph({}, {}, initializers_));
  }
  for (NodeId id = initial_->end_id(); id-- > 0;) {  // the last one counts
    const Node& assign = initial_->node(id);
    if ((assign.op != "AssignVariableOp" && assign.op != "Assign") || assign.inputs.size() != 2) {
      continue;
    }
    const Node& assigned = initial_->node(initial_->SkipIdentities(assign.inputs[0]).node);
    if (!IsVariable(assigned) || VariableName(assigned) != variable) continue;
    return ConstantValue(*initial_, assign.inputs[1], assets_, this);
  }
  return NotFound("the checkpoint ", prefix_,
                  " does not contain it, and no initializer assigns it");
}

absl::StatusOr<Tensor> VariableStore::Restored(const Draft& draft, const Node& restore, int port) {
  if (bundle_ == nullptr) TENON_RETURN_IF_ERROR(Open());
  const Tensor* names =
      restore.inputs.size() == 3 ? ConstStrings(draft, restore.inputs[1]) : nullptr;
  if (names == nullptr || port >= names->num_elements()) {
    return InvalidArgument(NodeLabel(restore),
                           ": the name of the value to restore is not constant");
  }
  return bundle_->Load(names->data<std::string>()[port]);
}

absl::StatusOr<Tensor> VariableStore::Value(const Node& variable) {
  if (bundle_ == nullptr && opened_.ok()) opened_ = Open();
  if (!opened_.ok() && initializers_.empty()) return opened_;
  const std::string name = VariableName(variable);
  auto value = [&]() -> absl::StatusOr<Tensor> {
    const absl::StatusOr<std::string> found =
        opened_.ok() ? Key(name, variable.name) : absl::StatusOr<std::string>(opened_);
    const DType* dtype = variable.attr<DType>("dtype");
    const Shape* shape = variable.attr<Shape>("shape");
    if (!found.ok() && !initializers_.empty()) {
      absl::StatusOr<Tensor> initial = Initialized(name);
      if (!initial.ok()) return opened_.ok() ? initial.status() : opened_;
      Tensor t = *std::move(initial);
      if (dtype == nullptr || *dtype != t.dtype() ||
          (shape != nullptr && !shape->CompatibleWith(t.shape()))) {
        return InvalidArgument("its initializer gives ", Name(t.dtype()), t.shape().ToString());
      }
      return t;
    }
    TENON_ASSIGN_OR_RETURN(const std::string key, found);
    const Bundle::Entry* entry = bundle_->Find(key);
    if (entry == nullptr) return NotFound("the checkpoint ", prefix_, " has no '", key, "'");
    if (dtype == nullptr || *dtype != entry->dtype) {
      return InvalidArgument("is ", dtype == nullptr ? "untyped" : Name(*dtype), ", but '", key,
                             "' in the checkpoint is ", Name(entry->dtype));
    }
    if (shape != nullptr && !shape->CompatibleWith(entry->shape)) {
      return InvalidArgument("has shape ", shape->ToString(), ", but '", key,
                             "' in the checkpoint has ", entry->shape.ToString());
    }
    if (auto it = loaded_.find(key); it != loaded_.end()) return it->second;
    TENON_ASSIGN_OR_RETURN(Tensor t, bundle_->Load(key));
    loaded_.emplace(key, t);
    return t;
  };
  absl::StatusOr<Tensor> result = value();
  if (!result.ok()) {
    return Annotate(result.status(),
                    absl::StrCat("variable '", name, "' (node '", variable.name, "')"));
  }
  return result;
}

}  // namespace tenon
