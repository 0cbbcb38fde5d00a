#include "kernels/contraction/post_op_spec.h"

namespace tenon {

std::optional<PostOpSpec> EltwiseSpec(ElementwiseOp op, float parameter) {
  const ElementwiseInfo* info = FindElementwise(op);
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

bool ChangesSpecials(ElementwiseOp op) {
  const ElementwiseInfo* info = FindElementwise(op);
  if (info == nullptr || !info->post_op.has_value()) return false;
  const PostOpForm& form = *info->post_op;
  return form.onednn_loses_nan || (form.onednn.has_value() && LosesInfinity(*form.onednn));
}

}  // namespace tenon
