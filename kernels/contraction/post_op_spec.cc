#include "kernels/contraction/post_op_spec.h"

namespace tenon {
namespace {

// LeakyRelu without a slope is a Relu; oneDNN would compute it in a form that loses NaN.
ElementwiseOp PlainForm(ElementwiseOp op, float parameter) {
  return op == ElementwiseOp::kLeakyRelu && parameter == 0 ? ElementwiseOp::kRelu : op;
}

}  // namespace

std::optional<PostOpSpec> EltwiseSpec(ElementwiseOp op, float parameter) {
  const ElementwiseInfo* info = FindElementwise(PlainForm(op, parameter));
  if (info == nullptr || !info->post_op.has_value()) return std::nullopt;
  const PostOpForm& form = *info->post_op;
  if (!form.onednn.has_value()) return std::nullopt;
  PostOpSpec spec;
  spec.kind = PostOpSpec::Kind::kEltwise;
  spec.eltwise = *form.onednn;
  spec.alpha = info->parameter == nullptr ? form.alpha : parameter;
  spec.beta = form.beta;
  spec.scale = form.scale;
  return spec;
}

bool ChangesSpecials(ElementwiseOp op, float parameter) {
  const ElementwiseInfo* info = FindElementwise(PlainForm(op, parameter));
  if (info == nullptr || !info->post_op.has_value()) return false;
  const PostOpForm& form = *info->post_op;
  return form.onednn_loses_nan || (form.onednn.has_value() && LosesInfinity(*form.onednn));
}

}  // namespace tenon
