#include "graph_rewrite/last_axis.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/elements.h"

namespace tenon {
namespace {

// A vector of `axis.size` elements that are all `value`.
absl::StatusOr<Tensor> Filled(DType dtype, const LastAxis& axis, double value) {
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(dtype, Shape({axis.size})));
  for (int64_t i = 0; i < axis.size; ++i) SetFloatElement(t, i, value);
  return t;
}

}  // namespace

absl::StatusOr<LastAxis> LastAxisOf(const Match& match, absl::string_view x) {
  const Shape& s = match.shape(x);
  if (!s.has_rank() || s.rank() == 0) return WhyNot("the rank of x is not known");
  const int64_t size = s.dim(s.rank() - 1);
  if (size <= 0) return WhyNot("the size of the last axis is not known");
  return LastAxis{s.rank(), size};
}

absl::Status IsLastAxis(const Tensor& axes, const LastAxis& axis) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegerValues(axes));
  if (values.size() != 1) return WhyNot("more than one axis is reduced");
  if (values[0] == -1 || values[0] == axis.rank - 1) return absl::OkStatus();
  return WhyNot(absl::StrCat("axis ", values[0], " is reduced, not the last"));
}

absl::StatusOr<Tensor> AsVector(const Tensor& t, DType dtype, const LastAxis& axis) {
  if (t.dtype() != dtype) return WhyNot("dtypes differ");
  if (t.shape().rank() > axis.rank) return WhyNot("a constant has a higher rank than x");
  if (t.num_elements() == 1) return Filled(dtype, axis, FloatElement(t, 0));
  if (t.num_elements() != axis.size || t.shape().dim(t.shape().rank() - 1) != axis.size) {
    return WhyNot(
        absl::StrCat("a constant of shape ", t.shape().ToString(), " is not along the last axis"));
  }
  return t.Reshaped(Shape({axis.size}));
}

absl::Status SetVector(const Match& match, absl::string_view name, const LastAxis& axis,
                       double absent, Replacement& replacement) {
  const DType dtype = match.dtype("x");
  if (!match.has(name)) {
    TENON_ASSIGN_OR_RETURN(Tensor t, Filled(dtype, axis, absent));
    replacement.SetConst(name, std::move(t));
    return absl::OkStatus();
  }
  if (const Tensor* constant = match.constant(name)) {
    TENON_ASSIGN_OR_RETURN(Tensor t, AsVector(*constant, dtype, axis));
    replacement.SetConst(name, std::move(t));
    return absl::OkStatus();
  }
  const Shape& s = match.shape(name);
  if (!s.has_rank() || s.rank() != 1 || s.dim(0) != axis.size) {
    return WhyNot(absl::StrCat(name, " is not known to be a vector along the last axis"));
  }
  return absl::OkStatus();
}

absl::Status SetEpsilon(const Match& match, absl::string_view constant, const LastAxis& axis,
                        absl::string_view node, Replacement& replacement) {
  const Tensor& e = *match.constant(constant);
  if (e.num_elements() != 1 || e.shape().rank() > axis.rank) return WhyNot("epsilon is no scalar");
  replacement.SetAttr(node, "epsilon", static_cast<float>(FloatElement(e, 0)));
  return absl::OkStatus();
}

}  // namespace tenon
