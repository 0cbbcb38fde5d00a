#include "proto/messages/attr_proto.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

// In attributes, DT_INVALID means "none".
absl::StatusOr<DType> AttrDType(int number) {
  if (number == 0) return DType::kInvalid;
  return DTypeFromProto(number);
}

absl::StatusOr<FuncRef> FuncFromProto(tf::NameAttrList& proto, TensorReader& tensors,
                                      const AttrMap* values) {
  FuncRef ref;
  ref.name = proto.name();
  TENON_ASSIGN_OR_RETURN(AttrMap attrs, AttrsFromProto(*proto.mutable_attr(), tensors, values));
  if (!attrs.empty()) ref.attrs = std::make_shared<const AttrMap>(std::move(attrs));
  return ref;
}

template <typename T, typename List, typename Convert>
absl::StatusOr<AttrValue> ListOf(List& list, Convert convert) {
  std::vector<T> out;
  out.reserve(static_cast<size_t>(list.size()));
  for (auto& item : list) {
    TENON_ASSIGN_OR_RETURN(T value, convert(item));
    out.push_back(std::move(value));
  }
  return AttrValue(std::move(out));
}

absl::StatusOr<AttrValue> ListFromProto(tf::AttrValue::ListValue& list, TensorReader& tensors,
                                        const AttrMap* values) {
  if (list.s_size() > 0)
    return AttrValue(std::vector<std::string>(list.s().begin(), list.s().end()));
  if (list.f_size() > 0) return AttrValue(std::vector<float>(list.f().begin(), list.f().end()));
  if (list.b_size() > 0) return AttrValue(std::vector<bool>(list.b().begin(), list.b().end()));
  if (list.type_size() > 0) return ListOf<DType>(list.type(), AttrDType);
  if (list.shape_size() > 0) return ListOf<Shape>(list.shape(), ShapeFromProto);
  if (list.tensor_size() > 0) {
    return ListOf<Tensor>(*list.mutable_tensor(),
                          [&](tf::TensorProto& t) { return tensors.Read(t); });
  }
  if (list.func_size() > 0) {
    return ListOf<FuncRef>(*list.mutable_func(),
                           [&](tf::NameAttrList& f) { return FuncFromProto(f, tensors, values); });
  }
  return AttrValue(std::vector<int64_t>(list.i().begin(), list.i().end()));
}

absl::Status FuncToProto(const FuncRef& ref, tf::NameAttrList& proto) {
  proto.set_name(ref.name);
  if (ref.attrs == nullptr) return absl::OkStatus();
  for (const auto& [key, value] : *ref.attrs) {
    tf::AttrEntry* entry = proto.add_attr();
    entry->set_key(key);
    TENON_RETURN_IF_ERROR(AttrToProto(value, *entry->mutable_value()));
  }
  return absl::OkStatus();
}

struct ToProto {
  tf::AttrValue& proto;

  absl::Status operator()(std::monostate) { return absl::OkStatus(); }
  absl::Status operator()(int64_t v) { return proto.set_i(v), absl::OkStatus(); }
  absl::Status operator()(float v) { return proto.set_f(v), absl::OkStatus(); }
  absl::Status operator()(bool v) { return proto.set_b(v), absl::OkStatus(); }
  absl::Status operator()(const std::string& v) { return proto.set_s(v), absl::OkStatus(); }
  absl::Status operator()(DType v) {
    return proto.set_type(static_cast<tf::DataType>(v)), absl::OkStatus();
  }
  absl::Status operator()(const Shape& v) {
    return ShapeToProto(v, *proto.mutable_shape()), absl::OkStatus();
  }
  absl::Status operator()(const Tensor& v) { return TensorToProto(v, *proto.mutable_tensor()); }
  absl::Status operator()(const FuncRef& v) { return FuncToProto(v, *proto.mutable_func()); }

  absl::Status operator()(const std::vector<int64_t>& list) {
    proto.mutable_list()->mutable_i()->Add(list.begin(), list.end());
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<float>& list) {
    proto.mutable_list()->mutable_f()->Add(list.begin(), list.end());
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<bool>& list) {
    proto.mutable_list();
    for (const bool v : list) proto.mutable_list()->add_b(v);
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<std::string>& list) {
    proto.mutable_list();
    for (const std::string& v : list) proto.mutable_list()->add_s(v);
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<DType>& list) {
    proto.mutable_list();
    for (const DType v : list) proto.mutable_list()->add_type(static_cast<tf::DataType>(v));
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<Shape>& list) {
    proto.mutable_list();
    for (const Shape& v : list) ShapeToProto(v, *proto.mutable_list()->add_shape());
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<Tensor>& list) {
    proto.mutable_list();
    for (const Tensor& v : list) {
      TENON_RETURN_IF_ERROR(TensorToProto(v, *proto.mutable_list()->add_tensor()));
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const std::vector<FuncRef>& list) {
    proto.mutable_list();
    for (const FuncRef& v : list) {
      TENON_RETURN_IF_ERROR(FuncToProto(v, *proto.mutable_list()->add_func()));
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<AttrValue> AttrFromProto(tf::AttrValue& proto, TensorReader& tensors,
                                        const AttrMap* values) {
  switch (proto.value_case()) {
    case tf::AttrValue::kS:
      return AttrValue(proto.s());
    case tf::AttrValue::kI:
      return AttrValue(int64_t{proto.i()});
    case tf::AttrValue::kF:
      return AttrValue(proto.f());
    case tf::AttrValue::kB:
      return AttrValue(proto.b());
    case tf::AttrValue::kType: {
      TENON_ASSIGN_OR_RETURN(const DType dtype, AttrDType(proto.type()));
      return AttrValue(dtype);
    }
    case tf::AttrValue::kShape: {
      TENON_ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(proto.shape()));
      return AttrValue(std::move(shape));
    }
    case tf::AttrValue::kTensor: {
      TENON_ASSIGN_OR_RETURN(Tensor tensor, tensors.Read(*proto.mutable_tensor()));
      return AttrValue(std::move(tensor));
    }
    case tf::AttrValue::kList:
      return ListFromProto(*proto.mutable_list(), tensors, values);
    case tf::AttrValue::kFunc: {
      TENON_ASSIGN_OR_RETURN(FuncRef ref, FuncFromProto(*proto.mutable_func(), tensors, values));
      return AttrValue(std::move(ref));
    }
    case tf::AttrValue::kPlaceholder: {
      if (values == nullptr) return InvalidArgument("'$", proto.placeholder(), "' has no value");
      auto it = values->find(proto.placeholder());
      if (it == values->end()) return InvalidArgument("'$", proto.placeholder(), "' has no value");
      return it->second;
    }
    case tf::AttrValue::VALUE_NOT_SET:
      break;
  }
  return InvalidArgument("has no value");
}

absl::StatusOr<AttrMap> AttrsFromProto(google::protobuf::RepeatedPtrField<tf::AttrEntry>& entries,
                                       TensorReader& tensors, const AttrMap* values) {
  AttrMap attrs;
  for (tf::AttrEntry& entry : entries) {
    if (!entry.key().empty() && entry.key()[0] == '_') continue;
    if (entry.value().value_case() == tf::AttrValue::VALUE_NOT_SET) continue;
    absl::StatusOr<AttrValue> value = AttrFromProto(*entry.mutable_value(), tensors, values);
    if (!value.ok()) {
      return Annotate(value.status(), absl::StrCat("attribute '", entry.key(), "'"));
    }
    attrs[entry.key()] = *std::move(value);
  }
  return attrs;
}

absl::Status AttrToProto(const AttrValue& value, tf::AttrValue& proto) {
  return std::visit(ToProto{proto}, value.variant());
}

void TypeEmptyLists(const OpInfo& op, Node& node) {
  for (auto& [key, value] : node.attrs) {
    const auto* list = value.get_if<std::vector<int64_t>>();
    if (list == nullptr || !list->empty()) continue;
    const AttrSpec* spec = op.signature.FindAttr(key);
    if (spec == nullptr) continue;
    if (spec->kind == "list(float)") value = std::vector<float>();
    if (spec->kind == "list(bool)") value = std::vector<bool>();
    if (spec->kind == "list(string)") value = std::vector<std::string>();
    if (spec->kind == "list(type)") value = std::vector<DType>();
    if (spec->kind == "list(shape)") value = std::vector<Shape>();
    if (spec->kind == "list(tensor)") value = std::vector<Tensor>();
    if (spec->kind == "list(func)") value = std::vector<FuncRef>();
  }
}

}  // namespace tenon
