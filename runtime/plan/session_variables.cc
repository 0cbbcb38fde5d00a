#include "runtime/plan/session_variables.h"

#include "env/status.h"

namespace tenon {
namespace {

absl::StatusOr<Tensor> HandleOf(const Node& node, ObjectPtr object) {
  absl::StatusOr<Tensor> handle = ObjectTensor(DType::kResource, std::move(object));
  if (!handle.ok()) return Annotate(handle.status(), NodeLabel(node));
  return handle;
}

}  // namespace

absl::StatusOr<Tensor> SessionVariables::Handle(const Node& node) {
  const std::string* shared = node.attr<std::string>("shared_name");
  const std::string& name = shared != nullptr && !shared->empty() ? *shared : node.name;
  const DType* dtype = node.attr<DType>("dtype");
  if (dtype == nullptr) return InvalidArgument(NodeLabel(node), " has no dtype");
  const Tensor* initial = node.attr<Tensor>(kInitialValueAttr);
  std::shared_ptr<Variable>& variable = variables_[name];
  if (variable == nullptr) {
    const Shape* shape = node.attr<Shape>("shape");
    variable =
        std::make_shared<Variable>(name, *dtype, shape == nullptr ? Shape::Unknown() : *shape,
                                   initial == nullptr ? Tensor() : *initial);
  } else if (variable->dtype() != *dtype) {
    return InvalidArgument(NodeLabel(node), ": variable '", name, "' is both ", Name(*dtype),
                           " and ", Name(variable->dtype()));
  }
  if (initial != nullptr && !variable->initialized()) {
    TENON_RETURN_IF_ERROR(variable->Assign(*initial));
  }
  return HandleOf(node, variable);
}

absl::StatusOr<Tensor> SessionVariables::TableHandle(const Node& node) {
  const std::string* shared = node.attr<std::string>("shared_name");
  const std::string& name = shared != nullptr && !shared->empty() ? *shared : node.name;
  const DType* keys = node.attr<DType>("key_dtype");
  const DType* values = node.attr<DType>("value_dtype");
  if (keys == nullptr || values == nullptr)
    return InvalidArgument(NodeLabel(node), " has no dtypes");
  const Shape* stated = node.attr<Shape>(kValueShapeAttr);
  const Shape value_shape = stated == nullptr ? Shape() : *stated;
  std::shared_ptr<MutableTable>& table = tables_[name];
  if (table == nullptr) {
    TENON_ASSIGN_OR_RETURN(table, MakeMutableTable(*keys, *values, value_shape));
    const Tensor* k = node.attr<Tensor>(kInitialKeysAttr);
    const Tensor* v = node.attr<Tensor>(kInitialValuesAttr);
    if (k != nullptr && v != nullptr) {
      Shape shape = value_shape;
      shape.insert(0, k->num_elements());
      if (k->dtype() != *keys || v->dtype() != *values || v->shape() != shape) {
        return InvalidArgument(NodeLabel(node), " has contents of another form");
      }
      table->Import(k->raw(), v->raw(), k->num_elements());
    }
  } else if (table->key_dtype() != *keys || table->value_dtype() != *values ||
             table->value_shape() != value_shape) {
    return InvalidArgument(NodeLabel(node), ": table '", name, "' has two forms");
  }
  return HandleOf(node, table);
}

std::vector<std::string> SessionVariables::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, variable] : variables_) names.push_back(name);
  return names;
}

absl::StatusOr<Variable*> SessionVariables::Find(absl::string_view name) const {
  const auto it = variables_.find(name);
  if (it == variables_.end()) {
    return absl::NotFoundError(absl::StrCat("the model changes no variable named '", name, "'"));
  }
  return it->second.get();
}

}  // namespace tenon
