#include "runtime/devices/attrs.h"

#include <type_traits>

namespace tenon {
namespace {

using Kind = PluginAttr::Kind;

// One element of an attribute.
struct Add {
  PluginAttr& attr;

  void operator()(int64_t v) const { attr.kind = Kind::kInt, attr.ints.push_back(v); }
  void operator()(float v) const { attr.kind = Kind::kFloat, attr.floats.push_back(v); }
  void operator()(bool v) const { attr.kind = Kind::kBool, attr.bools.push_back(v ? 1 : 0); }
  void operator()(const std::string& v) const {
    attr.kind = Kind::kString, attr.strings.push_back(v);
  }
  void operator()(DType v) const {
    attr.kind = Kind::kType, attr.types.push_back(static_cast<TF_DataType>(v));
  }
  void operator()(const Shape& v) const {
    attr.kind = Kind::kShape;
    attr.shapes.emplace_back();
    if (v.has_rank()) attr.shapes.back().emplace(v.dims().begin(), v.dims().end());
  }
  void operator()(const Tensor& v) const {
    attr.kind = Kind::kTensor, attr.tensors.push_back(HostTensor(v));
  }
  void operator()(const FuncRef&) const { attr.kind = Kind::kOther; }
  void operator()(std::monostate) const {}
  template <typename T>
  void operator()(const std::vector<T>& list) const {
    attr.list = true;
    if (list.empty()) {
      // Gives an empty list a type: that of its declared elements.
      if constexpr (std::is_same_v<T, float>) attr.kind = Kind::kFloat;
      if constexpr (std::is_same_v<T, bool>) attr.kind = Kind::kBool;
      if constexpr (std::is_same_v<T, std::string>) attr.kind = Kind::kString;
      if constexpr (std::is_same_v<T, DType>) attr.kind = Kind::kType;
      if constexpr (std::is_same_v<T, Shape>) attr.kind = Kind::kShape;
      if constexpr (std::is_same_v<T, Tensor>) attr.kind = Kind::kTensor;
      if constexpr (std::is_same_v<T, int64_t>) attr.kind = Kind::kInt;
    }
    for (const auto& v : list) (*this)(static_cast<const T&>(v));
  }
};

}  // namespace

std::map<std::string, PluginAttr> PluginAttrs(const AttrMap& attrs) {
  std::map<std::string, PluginAttr> out;
  for (const auto& [name, value] : attrs) std::visit(Add{out[name]}, value.variant());
  return out;
}

TF_Tensor HostTensor(const Tensor& tensor) {
  TF_Tensor t;
  t.type = static_cast<TF_DataType>(tensor.dtype());
  t.dims.assign(tensor.shape().dims().begin(), tensor.shape().dims().end());
  t.data = const_cast<void*>(tensor.raw());
  t.bytes = tensor.bytes();
  t.memory = std::make_shared<Tensor>(tensor);
  return t;
}

}  // namespace tenon
