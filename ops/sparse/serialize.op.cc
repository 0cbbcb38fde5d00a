// SerializeSparse, SerializeManySparse, DeserializeSparse, DeserializeManySparse: sparse tensors as
// strings or variants.
#include "kernels/sparse/serialize.h"

#include "env/status.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status SerializedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  c.set_output(0, Shape({3}));
  return absl::OkStatus();
}

constexpr char kSerializeInputs[] = "sparse_indices: int64, sparse_values: T, sparse_shape: int64";
constexpr char kSerializedTypes[] =
    "T: half bfloat16 float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
    "complex64 "
    "complex128 string; out_type: string variant";

const OpRegistration serialize_sparse({
    .name = "SerializeSparse",
    .inputs = kSerializeInputs,
    .outputs = "serialized_sparse: out_type",
    .attrs = "T: type; out_type: type = string",
    .types = kSerializedTypes,
    .shape = SerializedShape,
    .reference = SerializeSparseKernel,
});

absl::Status ManySerializedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparseBatch(c));
  c.set_output(0, Shape({-1, 3}));
  return absl::OkStatus();
}

const OpRegistration serialize_many_sparse({
    .name = "SerializeManySparse",
    .inputs = kSerializeInputs,
    .outputs = "serialized_sparse: out_type",
    .attrs = "T: type; out_type: type = string",
    .types = kSerializedTypes,
    .shape = ManySerializedShape,
    .reference = SerializeManySparseKernel,
});

absl::Status DeserializedShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (in.has_rank()) {
    if (in.rank() < 1) return InvalidArgument("the serialized tensors are a scalar");
    const int64_t parts = in.dim(in.rank() - 1);
    if (parts >= 0 && parts != 3) {
      return InvalidArgument("the last dimension must be 3, but is ", parts);
    }
  }
  c.set_output(0, Shape({-1, -1}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({-1}));
  return absl::OkStatus();
}

const OpRegistration deserialize_sparse({
    .name = "DeserializeSparse",
    .inputs = "serialized_sparse: Tserialized",
    .outputs = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    .attrs = "dtype: type; Tserialized: type = string",
    .types = "Tserialized: string variant",
    .shape = DeserializedShape,
    .reference = DeserializeSparseKernel,
});

absl::Status ManyDeserializedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  return DeserializedShape(c);
}

const OpRegistration deserialize_many_sparse({
    .name = "DeserializeManySparse",
    .inputs = "serialized_sparse: string",
    .outputs = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    .attrs = "dtype: type",
    .shape = ManyDeserializedShape,
    .reference = DeserializeSparseKernel,
});

}  // namespace
}  // namespace tenon
