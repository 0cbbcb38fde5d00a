// DecodeProtoV2 and EncodeProto: fields of protocol buffers, which a FileDescriptorSet in the node
// describes.
#include "env/status.h"
#include "kernels/example_proto/decode_message.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DecodeProtoShape(ShapeContext& c) {
  if (!c.input(0).has_rank()) return absl::OkStatus();
  Shape shape = c.input(0);
  shape.push_back(c.num_outputs() - 1);
  c.set_output(0, shape);
  shape.set_dim(shape.rank() - 1, -1);
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, shape);
  return absl::OkStatus();
}

const OpRegistration decode_proto({
    .name = "DecodeProtoV2",
    .inputs = "bytes: string",
    .outputs = "sizes: int32, values: output_types",
    .attrs = "message_type: string; field_names: list(string); output_types: list(type); "
             "descriptor_source: string = local://; message_format: string = binary; "
             "sanitize: bool = false",
    .shape = DecodeProtoShape,
    .reference = DecodeMessageKernel,
});

// All values have the messages' shape, and a last dimension of their own.
absl::Status EncodeProtoShape(ShapeContext& c) {
  if (c.num_inputs() < 2) return InvalidArgument("there are no values");
  Shape messages = Shape::Unknown();
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Shape& values = c.input(i);
    if (!values.has_rank()) continue;
    if (values.rank() < 2) return InvalidArgument("values need at least two dimensions");
    const Shape prefix(values.dims().first(values.dims().size() - 1));
    TENON_ASSIGN_OR_RETURN(messages, MergeShapes(messages, prefix));
  }
  if (messages.has_rank()) {
    Shape sizes = messages;
    sizes.push_back(c.num_inputs() - 1);
    TENON_ASSIGN_OR_RETURN(sizes, MergeShapes(sizes, c.input(0)));
    messages = Shape(sizes.dims().first(sizes.dims().size() - 1));
  }
  c.set_output(0, messages);
  return absl::OkStatus();
}

const OpRegistration encode_proto({
    .name = "EncodeProto",
    .inputs = "sizes: int32, values: Tinput_types",
    .outputs = "bytes: string",
    .attrs = "field_names: list(string); message_type: string; "
             "descriptor_source: string = local://; Tinput_types: list(type)",
    .shape = EncodeProtoShape,
    .reference = EncodeMessageKernel,
});

}  // namespace
}  // namespace tenon
