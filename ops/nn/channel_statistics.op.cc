// The sums of normalizations and their gradients, over all axes except some adjacent ones, axes
// [begin, end), the channels:
//
//   _Moments       mean(x) and mean((x - mean(x))^2)
//   _GradientSums  sum(g) and sum(g * x), where g is `gradient`, or (activation) the gradient of a
//                  Relu or Relu6 with the result `features`; otherwise `features` is not read
//
// Only rewriting creates them: TensorFlow's ops pass over memory three and five times.
#include "kernels/normalization/channel_sums.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status StatisticsShape(ShapeContext& c) {
  Shape x = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (!x.CompatibleWith(c.input(i))) {
      return InvalidArgument("input ", i, " must have the shape ", x.ToString(), ", but has ",
                             c.input(i).ToString());
    }
    TENON_ASSIGN_OR_RETURN(x, MergeShapes(x, c.input(i)));
  }
  if (!x.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const ChannelAxes channels, ChannelAxesOf(c.attrs(), x.rank()));
  const bool keep_dims = c.attrs().Bool("keep_dims", false);
  std::vector<int64_t> dims;
  for (int d = 0; d < x.rank(); ++d) {
    const bool kept = d >= channels.begin && d < channels.end;
    if (kept || keep_dims) dims.push_back(kept ? x.dim(d) : 1);
  }
  for (int o = 0; o < c.num_outputs(); ++o) c.set_output(o, Shape(dims));
  return absl::OkStatus();
}

const OpRegistration moments({
    .name = "_Moments",
    .inputs = "x: T",
    .outputs = "mean: T, variance: T",
    .attrs = "T: type; begin: int; end: int; keep_dims: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = StatisticsShape,
    .reference = ChannelMomentsReference,
    .accelerated = ChannelMomentsVector,
    .native = "_MklNativeMoments",
    .eager = false,
    .internal = true,
    .error_bound = ErrorBound::kMoments,
});

const OpRegistration gradient_sums({
    .name = "_GradientSums",
    .inputs = "gradient: T, x: T, features: T",
    .outputs = "sum: T, product_sum: T",
    .attrs = "T: type; activation: string = Identity; begin: int; end: int; "
             "keep_dims: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = StatisticsShape,
    .reference = ChannelGradientSumsReference,
    .accelerated = ChannelGradientSumsVector,
    .native = "_MklNativeGradientSums",
    .eager = false,
    .internal = true,
});

}  // namespace
}  // namespace tenon
