// SerializeTensor and ParseTensor: a tensor as the bytes of a TensorProto.
#include "kernels/strings/tensor_message.h"

#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration serialize_tensor({
    .name = "SerializeTensor",
    .inputs = "tensor: T",
    .outputs = "serialized: string",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
             "bool complex64 complex128 string",
    .shape = ScalarShape,
    .reference = SerializeTensorKernel,
});

absl::Status ParseTensorShape(ShapeContext& c) { return c.ExpectRank(0, 0); }

const OpRegistration parse_tensor({
    .name = "ParseTensor",
    .inputs = "serialized: string",
    .outputs = "output: out_type",
    .attrs = "out_type: type",
    .types = "out_type: half bfloat16 float double int8 int16 int32 int64 uint8 uint16 uint32 "
             "uint64 bool complex64 complex128 string qint8 quint8 qint16 quint16 qint32",
    .shape = ParseTensorShape,
    .reference = ParseTensorKernel,
});

}  // namespace
}  // namespace tenon
