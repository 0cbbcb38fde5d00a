#include "proto/stablehlo/value.h"

#include <algorithm>
#include <complex>
#include <numeric>
#include <utility>

#include "Eigen/Core"

namespace tenon::stablehlo {
namespace {

template <typename T>
double First(const Tensor& t) {
  return static_cast<double>(t.data<T>()[0]);
}

// Dimensions other than 1, by position.
std::vector<int> RealDims(const Shape& shape) {
  std::vector<int> dims;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) != 1) dims.push_back(d);
  }
  return dims;
}

}  // namespace

bool Value::IsWhole() const {
  if (base_shape.rank() != rank()) return false;
  for (int d = 0; d < rank(); ++d) {
    if (axes[static_cast<size_t>(d)] != d && shape.dim(d) != 1) return false;
  }
  return true;
}

bool Value::IsUniform() const {
  return base_shape.num_elements() == 1 &&
         std::all_of(axes.begin(), axes.end(), [](int a) { return a < 0; });
}

bool Value::UniformNumber(double& number) const {
  if (!constant.valid() || constant.num_elements() != 1) return false;
  switch (constant.dtype()) {
    case DType::kFloat:
      number = First<float>(constant);
      return true;
    case DType::kDouble:
      number = First<double>(constant);
      return true;
    case DType::kBfloat16:
      number = First<bfloat16>(constant);
      return true;
    case DType::kHalf:
      number = First<half>(constant);
      return true;
    case DType::kInt8:
      number = First<int8_t>(constant);
      return true;
    case DType::kInt16:
      number = First<int16_t>(constant);
      return true;
    case DType::kInt32:
      number = First<int32_t>(constant);
      return true;
    case DType::kInt64:
      number = First<int64_t>(constant);
      return true;
    case DType::kUint8:
      number = First<uint8_t>(constant);
      return true;
    case DType::kUint16:
      number = First<uint16_t>(constant);
      return true;
    case DType::kUint32:
      number = First<uint32_t>(constant);
      return true;
    case DType::kUint64:
      number = First<uint64_t>(constant);
      return true;
    case DType::kBool:
      number = First<bool>(constant);
      return true;
    default:
      return false;
  }
}

Value Whole(Ref base, Shape shape) {
  Value v;
  v.dtype = base.dtype;
  v.base = std::move(base);
  v.base_shape = shape;
  v.axes.resize(static_cast<size_t>(shape.rank()));
  std::iota(v.axes.begin(), v.axes.end(), 0);
  v.shape = std::move(shape);
  return v;
}

bool ReshapedView(const Value& v, const Shape& to, Value& out) {
  const std::vector<int> from_dims = RealDims(v.shape), to_dims = RealDims(to);
  const bool uniform = v.IsUniform() && v.shape.IsComplete() && to.IsComplete();
  if (!uniform) {
    if (from_dims.size() != to_dims.size()) return false;
    int unknown = 0;
    for (size_t i = 0; i < to_dims.size(); ++i) {
      const int64_t d = v.shape.dim(from_dims[i]);
      if (d != to.dim(to_dims[i])) return false;
      if (d >= 0) continue;
      // Two that are not known may have been exchanged for others of the same product.
      if (++unknown > 1) return false;
      if (v.axes[static_cast<size_t>(from_dims[i])] < 0) return false;  // needs `sizes`
    }
  }
  out = v;
  out.sizes = {};
  out.shape = to;
  out.axes.assign(static_cast<size_t>(to.rank()), -1);
  for (size_t i = 0; !uniform && i < to_dims.size(); ++i) {
    out.axes[static_cast<size_t>(to_dims[i])] = v.axes[static_cast<size_t>(from_dims[i])];
  }
  return true;
}

bool TransposedView(const Value& v, const std::vector<int64_t>& order, Value& out) {
  out = v;
  out.sizes = {};
  int last = -1;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t from = static_cast<size_t>(order[i]);
    const int64_t size = v.shape.dim(static_cast<int>(from));
    const int axis = size == 1 ? -1 : v.axes[from];
    if (axis >= 0 && axis < last) return false;
    last = std::max(last, axis);
    if (size < 0 && axis < 0) return false;  // needs `sizes`
    out.shape.set_dim(static_cast<int>(i), size);
    out.axes[i] = axis;
  }
  return true;
}

Value WithoutUnit(const Value& v, int d) {
  Value out = v;
  out.shape.erase(d);
  out.axes.erase(out.axes.begin() + d);
  out.sizes = {};
  return out;
}

Value WithUnit(const Value& v, int d) {
  Value out = v;
  out.shape.insert(d, 1);
  out.axes.insert(out.axes.begin() + d, -1);
  out.sizes = {};
  return out;
}

Value Compact(const Value& v) {
  Value out = v;
  for (int d = v.rank() - 1; d >= 0; --d) {
    if (v.shape.dim(d) == 1) out = WithoutUnit(out, d);
  }
  out.sizes = {};
  return out;
}

Value Expanded(Value v, const Shape& shape) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) == 1) v = WithUnit(v, d);
  }
  return v;
}

Value BroadcastView(const Value& v, const std::vector<int64_t>& dims, Shape to, Ref sizes) {
  Value out = v;
  out.axes.assign(static_cast<size_t>(to.rank()), -1);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = v.shape.dim(static_cast<int>(i));
    if (size == 1 && to.dim(static_cast<int>(dims[i])) != 1) continue;
    out.axes[static_cast<size_t>(dims[i])] = v.axes[i];
  }
  out.shape = std::move(to);
  out.sizes = std::move(sizes);
  return out;
}

Shape AlignedShape(const Value& v) {
  Shape aligned;
  bool started = false;
  for (int axis : v.axes) {
    started = started || axis >= 0;
    if (started) aligned.push_back(axis < 0 ? 1 : v.base_shape.dim(axis));
  }
  return aligned;
}

bool IsAligned(const Value& v) {
  const int lead = v.rank() - v.base_shape.rank();
  if (lead < 0) return false;
  for (int d = 0; d < v.rank(); ++d) {
    const int axis = v.axes[static_cast<size_t>(d)];
    if (axis >= 0 && axis != d - lead) return false;
    if (axis < 0 && d >= lead && v.base_shape.dim(d - lead) != 1) return false;
  }
  return true;
}

}  // namespace tenon::stablehlo
