// A hash of attributes for caches of prepared kernels. For large values (tensors, functions), the
// hash covers only what is cheap to read; equality decides.
#ifndef TENON_RUNTIME_EXECUTION_ATTR_HASH_H_
#define TENON_RUNTIME_EXECUTION_ATTR_HASH_H_

#include <cstddef>

#include "absl/hash/hash.h"
#include "graph/attr.h"

namespace tenon {

struct AttrValueHash {
  size_t operator()(const std::monostate&) const { return 0; }
  size_t operator()(const Tensor& t) const { return absl::HashOf(t.dtype(), t.shape()); }
  size_t operator()(const FuncRef& f) const { return absl::HashOf(f.name); }
  size_t operator()(const std::vector<bool>& v) const { return v.size(); }
  size_t operator()(const std::vector<Tensor>& v) const { return v.size(); }
  size_t operator()(const std::vector<FuncRef>& v) const { return v.size(); }
  template <typename T>
  size_t operator()(const T& v) const {
    return absl::HashOf(v);
  }
};

inline size_t HashAttrs(size_t seed, const AttrMap& attrs) {
  for (const auto& [name, value] : attrs) {
    seed = absl::HashOf(seed, name, std::visit(AttrValueHash(), value.variant()));
  }
  return seed;
}

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_ATTR_HASH_H_
