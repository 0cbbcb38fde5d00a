// Conv: Conv2D or Conv3D of images with any number of batch dimensions. Import writes it as one of
// these if there is one batch dimension.
#include "ops/nn/conv_nd.h"

#include <vector>

#include "kernels/convolution/conv.h"
#include "ops/nn/conv_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The plain convolution that computes it, on images whose batch dimensions are one.
struct FlatConv {
  Node node;
  int spatial = 2;
  int batch_dims = 1;
  Shape image = Shape::Unknown();

  static absl::StatusOr<FlatConv> Of(const Node& conv, const Shape& input) {
    FlatConv flat;
    const int64_t batch_dims = AttrReader(conv).Int("batch_dims", 1);
    TENON_ASSIGN_OR_RETURN(flat.node, PlainConv(conv));
    if (flat.node.op == "Conv3D") flat.spatial = 3;
    if (batch_dims < 0 || batch_dims > 254) return InvalidArgument("batch_dims of ", batch_dims);
    flat.batch_dims = static_cast<int>(batch_dims);
    if (!input.has_rank()) return flat;
    if (input.rank() != flat.batch_dims + flat.spatial + 1) {
      return InvalidArgument("an input of shape ", input.ToString(), " for ", batch_dims,
                             " batch dimensions and ", flat.spatial, " spatial ones");
    }
    int64_t batch = 1;
    for (int i = 0; i < flat.batch_dims; ++i) {
      const int64_t d = input.dim(i);
      if (batch < 0 || d < 0) {
        batch = -1;
      } else if (__builtin_mul_overflow(batch, d, &batch)) {
        return InvalidArgument("an input of shape ", input.ToString(), " is too large");
      }
    }
    flat.image = Shape({batch});
    for (int i = flat.batch_dims; i < input.rank(); ++i) flat.image.push_back(input.dim(i));
    return flat;
  }

  absl::StatusOr<Shape> OutputShape(const Shape& filter) const {
    TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(AttrReader(node), spatial));
    if (filter.IsComplete() && filter.num_elements() == 0) {
      return InvalidArgument("a filter of shape ", filter.ToString());
    }
    TENON_ASSIGN_OR_RETURN(const Shape out,
                           ConvOutputShape(attrs, ConvKind::kDense, image, filter));
    const int64_t channels = image.has_rank() ? image.dim(attrs.channel_axis()) : -1;
    const int64_t of_filter = filter.has_rank() ? filter.dim(spatial) : -1;
    if (channels >= 0 && of_filter >= 0 && channels != of_filter) {
      return InvalidArgument("input has ", channels, " channels, but the filter is for ",
                             of_filter);
    }
    return out;
  }
};

absl::Status ConvNdShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const FlatConv flat, FlatConv::Of(c.node(), c.input(0)));
  TENON_ASSIGN_OR_RETURN(const Shape flat_out, flat.OutputShape(c.input(1)));
  if (!c.input(0).has_rank()) return absl::OkStatus();
  Shape out;
  for (int i = 0; i < flat.batch_dims; ++i) out.push_back(c.input(0).dim(i));
  for (int i = 1; i < flat_out.rank(); ++i) out.push_back(flat_out.dim(i));
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

using ConvFactory = absl::StatusOr<std::unique_ptr<Kernel>> (*)(PrepareContext&, int, ConvKind);

template <ConvFactory factory>
absl::StatusOr<std::unique_ptr<Kernel>> ConvNd(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const FlatConv flat, FlatConv::Of(p.node(), p.input_shape(0)));
  TENON_ASSIGN_OR_RETURN(const Shape shape, flat.OutputShape(p.input_shape(1)));
  const std::vector<TensorSpec> in = {{p.input_dtype(0), flat.image, nullptr},
                                      {p.input_dtype(1), p.input_shape(1), nullptr}};
  const std::vector<TensorSpec> out = {{p.output_dtype(0), shape, nullptr}};
  const std::vector<Constant*> constants = {nullptr, p.constant(1)};
  PrepareContext plain(flat.node, in, constants, out, p.services(), p.infer_outputs());
  auto kernel = factory(plain, flat.spatial, ConvKind::kDense);
  p.RequestScratch(plain.scratch_bytes());
  for (int i : plain.unread()) p.InputNotRead(i);
  return kernel;
}

const OpRegistration conv_nd({
    .name = "Conv",
    .inputs = "input: T, filter: T",
    .outputs = "output: T",
    .attrs = "T: type; strides: list(int); padding: string; explicit_paddings: list(int) = []; "
             "data_format: string = CHANNELS_LAST; dilations: list(int) = []; "
             "batch_dims: int = 1; groups: int = 1",
    .types = "T: half bfloat16 float double int32",
    .shape = ConvNdShape,
    .reference = ConvNd<ConvReferenceKernel>,
    .accelerated = ConvNd<ConvOnednnKernel>,
    .native = "_MklNativeConv",
    .native_types = "float bfloat16 double",
    .error_bound = ErrorBound::kConvolution,
});

}  // namespace
}  // namespace tenon
