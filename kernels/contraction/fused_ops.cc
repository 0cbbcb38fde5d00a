#include "kernels/contraction/fused_ops.h"

#include <Eigen/Core>
#include <algorithm>
#include <string>

#include "env/status.h"
#include "kernels/contraction/post_op_math.h"

namespace tenon {
namespace {

// The shape of an extra input, aligned to the result's dimensions.
Shape::Dims AlignedDims(const FusedOp& op, const Shape& operand, int rank, int channel_axis) {
  Shape::Dims dims(static_cast<size_t>(rank), 1);
  if (op.op == PostOp::kBiasAdd || op.batch_norm) {
    dims[static_cast<size_t>(channel_axis)] = operand.num_elements();
    return dims;
  }
  for (int i = 0; i < operand.rank(); ++i) {
    dims[static_cast<size_t>(rank - operand.rank() + i)] = operand[i];
  }
  return dims;
}

}  // namespace

absl::StatusOr<FusedOps> ParseFusedOps(const AttrReader& attrs, int first_input, int num_inputs) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> names, attrs.Strings("fused_ops"));
  FusedOps ops;
  int next = first_input;
  for (const std::string& name : names) {
    FusedOp op;
    if (name == "FusedBatchNorm") {
      op.batch_norm = true;
      op.epsilon = attrs.Float("epsilon", 0.0f);
    } else {
      op.op = FindPostOp(name);
      if (op.op == PostOp::kNone) return InvalidArgument("fused_ops: unknown op '", name, "'");
      if (op.op == PostOp::kLeakyRelu) op.alpha = attrs.Float("leakyrelu_alpha", 0.2f);
    }
    if (op.binary() || op.batch_norm) {
      op.input = next;
      next += op.batch_norm ? 4 : 1;
    }
    ops.push_back(op);
  }
  if (next != num_inputs) {
    return InvalidArgument("fused_ops take ", next - first_input, " extra inputs, but there are ",
                           num_inputs - first_input);
  }
  return ops;
}

FusedPass::FusedPass(const PrepareContext& p, absl::Span<const FusedOp> ops, int channel_axis)
    : dtype_(p.output_dtype(0)), shape_(p.output_shape(0)), threads_(p.services().threads) {
  const int rank = shape_.rank();
  for (const FusedOp& op : ops) {
    Step step{op, {}};
    if (op.input >= 0) {
      const Shape::Dims dims = AlignedDims(op, p.input_shape(op.input), rank, channel_axis);
      step.operand_strides.assign(static_cast<size_t>(rank), 0);
      int64_t stride = 1;
      for (size_t i = dims.size(); i-- > 0;) {
        if (dims[i] > 1) step.operand_strides[i] = stride;
        stride *= dims[i];
      }
    }
    steps_.push_back(std::move(step));
  }
}

template <typename T>
void FusedPass::RunTyped(RunContext& r, T* result) const {
  using C = PostOpMath<T>;
  const int rank = shape_.rank();
  const int64_t inner = rank > 0 ? shape_[rank - 1] : 1;
  const int64_t rows = inner > 0 ? shape_.num_elements() / inner : 0;
  const int64_t work = rows * inner * static_cast<int64_t>(steps_.size());
  const int threads = work > (int64_t{1} << 16) ? threads_ : 1;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t row = 0; row < rows; ++row) {
    T* const y = result + row * inner;
    for (const Step& step : steps_) {
      int64_t offset = 0;
      if (step.op.input >= 0) {
        int64_t rest = row;
        for (int d = rank - 2; d >= 0; --d) {
          offset += rest % shape_[d] * step.operand_strides[static_cast<size_t>(d)];
          rest /= shape_[d];
        }
      }
      const int64_t stride = rank > 0 && step.op.input >= 0 ? step.operand_strides.back() : 0;
      auto operand = [&](int i) { return r.input<T>(step.op.input + i) + offset; };
      if (step.op.batch_norm) {
        C::BatchNorm(y, inner, stride, operand(0), operand(1), operand(2), operand(3),
                     step.op.epsilon);
      } else if (step.op.binary()) {
        C::Binary(step.op.op, y, inner, stride, operand(0));
      } else {
        C::Unary(step.op.op, y, inner, step.op.alpha);
      }
    }
  }
}

void FusedPass::Run(RunContext& r, void* result) const {
  if (steps_.empty()) return;
  switch (dtype_) {
    case DType::kFloat:
      return RunTyped(r, static_cast<float*>(result));
    case DType::kDouble:
      return RunTyped(r, static_cast<double*>(result));
    case DType::kHalf:
      return RunTyped(r, static_cast<half*>(result));
    case DType::kBfloat16:
      return RunTyped(r, static_cast<bfloat16*>(result));
    default:
      return;  // the op rows allow no other
  }
}

}  // namespace tenon
