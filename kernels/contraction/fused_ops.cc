#include "kernels/contraction/fused_ops.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "env/status.h"
#include "kernels/elementwise/elementwise_scalar.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// The shape of an extra input, aligned to the result's dimensions.
Shape::Dims AlignedDims(const FusedOp& op, const Shape& operand, int rank, int channel_axis) {
  Shape::Dims dims(static_cast<size_t>(rank), 1);
  if (op.bias || op.batch_norm) {
    dims[static_cast<size_t>(channel_axis)] = operand.num_elements();
    return dims;
  }
  for (int i = 0; i < operand.rank(); ++i) {
    dims[static_cast<size_t>(rank - operand.rank() + i)] = operand[i];
  }
  return dims;
}

// A row of elements. Half and bfloat16 are rounded after each op, as by separate ops.
// y[i] op= x[i * stride]
template <typename T>
void BinaryRow(ElementwiseOp op, T* y, int64_t n, int64_t stride, const T* x) {
  auto each = [y, n, stride, x](auto f) {
    if (stride == 1) {
      for (int64_t i = 0; i < n; ++i) y[i] = f(y[i], x[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = f(y[i], x[i * stride]);
    }
  };
  if (op == ElementwiseOp::kMul) {
    each([](T a, T b) { return static_cast<T>(a * b); });
  } else {
    each([](T a, T b) { return static_cast<T>(a + b); });
  }
}

template <typename T>
void BatchNormRow(T* y, int64_t n, int64_t stride, const T* scale, const T* offset, const T* mean,
                  const T* variance, float epsilon) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t c = i * stride;
    const auto factor = ToCompute(scale[c]) /
                        std::sqrt(ToCompute(variance[c]) + static_cast<ComputeType<T>>(epsilon));
    y[i] = static_cast<T>((ToCompute(y[i]) - ToCompute(mean[c])) * factor + ToCompute(offset[c]));
  }
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
      const ElementwiseInfo* info = FindFusedOp(name);
      if (info == nullptr) return InvalidArgument("fused_ops: unknown op '", name, "'");
      op.op = info->op;
      op.bias = name == "BiasAdd";
      if (info->post_op->parameter != nullptr) {
        op.parameter = attrs.Float(info->post_op->parameter, info->default_parameter);
      }
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
  const int rank = shape_.rank();
  const int64_t inner = rank > 0 ? shape_[rank - 1] : 1;
  const int64_t rows = inner > 0 ? shape_.num_elements() / inner : 0;
  const int64_t work = rows * inner * static_cast<int64_t>(steps_.size());
  const int threads = work > (int64_t{1} << 16) ? threads_ : 1;
  ParallelFor(threads, rows, /*grain=*/1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
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
          BatchNormRow(y, inner, stride, operand(0), operand(1), operand(2), operand(3),
                       step.op.epsilon);
        } else if (step.op.binary()) {
          BinaryRow(step.op.op, y, inner, stride, operand(0));
        } else {
          ScalarUnaryRow(step.op.op, y, inner, step.op.parameter);
        }
      }
    }
  });
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
