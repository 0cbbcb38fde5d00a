#include "graph/attr.h"

namespace tenon {
namespace {

template <typename T>
bool Same(const T& a, const T& b) {
  return a == b;
}
bool Same(const Tensor& a, const Tensor& b) { return Identical(a, b); }
bool Same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Identical(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

AttrValue::AttrValue() = default;
AttrValue::AttrValue(const AttrValue&) = default;
AttrValue::AttrValue(AttrValue&&) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue&) = default;
AttrValue& AttrValue::operator=(AttrValue&&) noexcept = default;
AttrValue::~AttrValue() = default;

AttrValue::AttrValue(int64_t v) : v_(v) {}
AttrValue::AttrValue(int v) : v_(int64_t{v}) {}
AttrValue::AttrValue(float v) : v_(v) {}
AttrValue::AttrValue(bool v) : v_(v) {}
AttrValue::AttrValue(const char* v) : v_(std::string(v)) {}
AttrValue::AttrValue(std::string v) : v_(std::move(v)) {}
AttrValue::AttrValue(DType v) : v_(v) {}
AttrValue::AttrValue(Shape v) : v_(std::move(v)) {}
AttrValue::AttrValue(Tensor v) : v_(std::move(v)) {}
AttrValue::AttrValue(FuncRef v) : v_(std::move(v)) {}
template <typename T>
AttrValue::AttrValue(std::vector<T> v) : v_(std::move(v)) {}
template AttrValue::AttrValue(std::vector<int64_t>);
template AttrValue::AttrValue(std::vector<float>);
template AttrValue::AttrValue(std::vector<bool>);
template AttrValue::AttrValue(std::vector<std::string>);
template AttrValue::AttrValue(std::vector<DType>);
template AttrValue::AttrValue(std::vector<Shape>);
template AttrValue::AttrValue(std::vector<Tensor>);
template AttrValue::AttrValue(std::vector<FuncRef>);

bool operator==(const FuncRef& a, const FuncRef& b) {
  if (a.name != b.name) return false;
  const AttrMap none;
  return (a.attrs ? *a.attrs : none) == (b.attrs ? *b.attrs : none);
}

bool operator==(const AttrValue& a, const AttrValue& b) {
  if (a.v_.index() != b.v_.index()) return false;
  return std::visit(
      [&](const auto& x) { return Same(x, std::get<std::decay_t<decltype(x)>>(b.v_)); }, a.v_);
}

}  // namespace tenon
