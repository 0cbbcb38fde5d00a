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
