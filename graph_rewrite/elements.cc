#include "graph_rewrite/elements.h"

#include <Eigen/Core>
#include <cmath>
#include <utility>

#include "graph_rewrite/context.h"

namespace tenon {

std::vector<int64_t> ConstantIntegers(const RuleContext& context, Endpoint e) {
  const Tensor* t = context.Constant(e);
  if (t == nullptr) return {};
  auto values = IntegerValues(*t);
  return values.ok() ? *std::move(values) : std::vector<int64_t>();
}

bool IsTrue(const Node& n, absl::string_view attr) {
  const bool* value = n.attr<bool>(attr);
  return value != nullptr && *value;
}

bool IsLast(const RuleContext& context, Endpoint axis, int rank) {
  const std::vector<int64_t> values = ConstantIntegers(context, axis);
  return values.size() == 1 && (values[0] == -1 || values[0] == rank - 1);
}

double FloatElement(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat:
      return t.data<float>()[i];
    case DType::kDouble:
      return t.data<double>()[i];
    case DType::kHalf:
      return static_cast<float>(t.data<half>()[i]);
    case DType::kBfloat16:
      return static_cast<float>(t.data<bfloat16>()[i]);
    default:
      return std::nan("");
  }
}

void SetFloatElement(Tensor& t, int64_t i, double value) {
  const float f = static_cast<float>(value);
  switch (t.dtype()) {
    case DType::kFloat:
      t.data<float>()[i] = f;
      break;
    case DType::kDouble:
      t.data<double>()[i] = value;
      break;
    case DType::kHalf:
      t.data<half>()[i] = half(f);
      break;
    case DType::kBfloat16:
      t.data<bfloat16>()[i] = bfloat16(f);
      break;
    default:
      break;
  }
}

bool IsFilledWith(const Tensor& t, double value) {
  if (!IsFloating(t.dtype()) || t.num_elements() == 0) return false;
  double want = value;
  if (t.dtype() == DType::kHalf) want = static_cast<float>(half(static_cast<float>(value)));
  if (t.dtype() == DType::kBfloat16) want = static_cast<float>(bfloat16(static_cast<float>(value)));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (!(std::abs(FloatElement(t, i) - want) <= 1e-6 * std::abs(want))) return false;
  }
  return true;
}

}  // namespace tenon
