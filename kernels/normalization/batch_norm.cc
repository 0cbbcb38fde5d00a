#include "kernels/normalization/batch_norm.h"

#include <cmath>
#include <string>

#include "env/status.h"

namespace tenon {

int BatchNormChannelAxis(const AttrReader& attrs, int rank) {
  const std::string format = attrs.String("data_format", "NHWC");
  return format == "NHWC" || format == "NDHWC" ? rank - 1 : 1;
}

absl::Status CheckBatchNormAttrs(const AttrReader& attrs) {
  const std::string format = attrs.String("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW" && format != "NDHWC" && format != "NCDHW") {
    return InvalidArgument("data_format must be NHWC, NCHW, NDHWC or NCDHW, but is ", format);
  }
  const std::string activation = attrs.String("activation_mode", "Identity");
  // op names: values of the attribute.
  if (activation != "Identity" && activation != "Relu" && activation != "Relu6") {
    return InvalidArgument("activation_mode must be Identity, Relu or Relu6, but is ", activation);
  }
  const int64_t sides = attrs.Int("num_side_inputs", 0);
  if (sides < 0 || sides > 1) return InvalidArgument("there may be one side input, not ", sides);
  return absl::OkStatus();
}

absl::StatusOr<BatchNormSpec> BatchNormSpecOf(const PrepareContext& p, int input) {
  const Shape& x = p.input_shape(input);
  const AttrReader& attrs = p.attrs();
  BatchNormSpec s;
  const int axis = BatchNormChannelAxis(attrs, x.rank());
  for (int i = 0; i < x.rank(); ++i) {
    if (i < axis) s.outer *= x[i];
    if (i > axis) s.inner *= x[i];
  }
  s.channels = x[axis];
  s.epsilon = attrs.Float("epsilon", 0.0001f);
  s.factor = attrs.Float("exponential_avg_factor", 1.0f);
  s.training = attrs.Bool("is_training", true);
  const std::string activation = attrs.String("activation_mode", "Identity");
  s.relu = activation != "Identity";
  if (activation == "Relu6") s.relu_limit = 6;
  s.has_side = attrs.Int("num_side_inputs", 0) > 0;
  s.num_outputs = p.num_outputs();
  s.dtype = p.input_dtype(input);
  s.threads = p.services().threads;
  return s;
}

void StoreBatchNormStatistics(const BatchNormSpec& s, const double* mean, const double* variance,
                              RunContext& r) {
  const double n = static_cast<double>(s.count());
  // The variance output is the unbiased estimate.
  const double unbiased = s.training && n > 1 ? n / (n - 1) : 1;
  const double factor = s.factor;
  for (int64_t c = 0; c < s.channels; ++c) {
    double batch_mean = mean[c], batch_variance = variance[c] * unbiased;
    if (s.averages()) {
      batch_mean = factor * batch_mean + (1 - factor) * r.input<float>(3)[c];
      batch_variance = factor * batch_variance + (1 - factor) * r.input<float>(4)[c];
    }
    if (s.count() == 0) batch_mean = batch_variance = std::nan("");
    r.output<float>(1)[c] = static_cast<float>(batch_mean);
    r.output<float>(2)[c] = static_cast<float>(batch_variance);
    r.output<float>(3)[c] = static_cast<float>(mean[c]);
    r.output<float>(4)[c] = static_cast<float>(variance[c]);
  }
  if (s.num_outputs > 5) r.output<float>(5)[0] = 0;
}

}  // namespace tenon
