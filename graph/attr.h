// Attribute values of a node, and the sorted map that holds them.
#ifndef TENON_GRAPH_ATTR_H_
#define TENON_GRAPH_ATTR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "env/containers.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace tenon {

class AttrValue;
using AttrMap = OrderedMap<std::string, AttrValue>;

// A function's name and the attributes of the call.
struct FuncRef {
  std::string name;
  std::shared_ptr<const AttrMap> attrs;  // may be null: none
};
bool operator==(const FuncRef& a, const FuncRef& b);

// A value of one of the types below. An empty list of unknown element type is an empty int list.
class AttrValue {
 public:
  using Variant = std::variant<std::monostate, int64_t, float, bool, std::string, DType, Shape,
                               Tensor, FuncRef, std::vector<int64_t>, std::vector<float>,
                               std::vector<bool>, std::vector<std::string>, std::vector<DType>,
                               std::vector<Shape>, std::vector<Tensor>, std::vector<FuncRef>>;

  // Not inline: almost every source would instantiate this large variant.
  AttrValue();
  AttrValue(const AttrValue&);
  AttrValue(AttrValue&&) noexcept;
  AttrValue& operator=(const AttrValue&);
  AttrValue& operator=(AttrValue&&) noexcept;
  ~AttrValue();

  AttrValue(int64_t v);
  AttrValue(int v);
  AttrValue(float v);
  AttrValue(bool v);
  AttrValue(const char* v);
  AttrValue(std::string v);
  AttrValue(DType v);
  AttrValue(Shape v);
  AttrValue(Tensor v);
  AttrValue(FuncRef v);
  template <typename T>
  AttrValue(std::vector<T> v);  // of the types above except const char*

  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&v_);
  }
  const Variant& variant() const { return v_; }
  bool empty() const { return v_.index() == 0; }

  friend bool operator==(const AttrValue& a, const AttrValue& b);
  friend bool operator!=(const AttrValue& a, const AttrValue& b) { return !(a == b); }

 private:
  Variant v_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_ATTR_H_
