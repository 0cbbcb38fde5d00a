// Maps from tensors to tensors, in variant scalars: EmptyTensorMap, TensorMapInsert, Erase, Lookup,
// HasKey, Size, StackKeys.
#include "kernels/lists/tensor_map.h"

#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration empty_map({
    .name = "EmptyTensorMap",
    .outputs = "handle: variant",
    .shape = ScalarShape,
    .reference = EmptyMapKernel,
});

// Takes a map; gives a scalar.
absl::Status MapToScalar(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return ScalarShape(c);
}

const OpRegistration map_size({
    .name = "TensorMapSize",
    .inputs = "input_handle: variant",
    .outputs = "size: int32",
    .shape = MapToScalar,
    .reference = MapSizeKernel,
});

const OpRegistration map_insert({
    .name = "TensorMapInsert",
    .inputs = "input_handle: variant, key: key_dtype, value: value_dtype",
    .outputs = "output_handle: variant",
    .attrs = "key_dtype: type; value_dtype: type",
    .shape = MapToScalar,
    .reference = MapInsertKernel,
});

// Takes a map; what it gives depends on the map's content.
absl::Status MapToUnknown(ShapeContext& c) { return c.ExpectRank(0, 0); }

const OpRegistration map_lookup({
    .name = "TensorMapLookup",
    .inputs = "input_handle: variant, key: key_dtype",
    .outputs = "value: value_dtype",
    .attrs = "key_dtype: type; value_dtype: type",
    .shape = MapToUnknown,
    .reference = MapLookupKernel,
});

const OpRegistration map_erase({
    .name = "TensorMapErase",
    .inputs = "input_handle: variant, key: key_dtype",
    .outputs = "output_handle: variant",
    .attrs = "key_dtype: type; value_dtype: type",
    .shape = MapToScalar,
    .reference = MapEraseKernel,
});

const OpRegistration map_has_key({
    .name = "TensorMapHasKey",
    .inputs = "input_handle: variant, key: key_dtype",
    .outputs = "has_key: bool",
    .attrs = "key_dtype: type",
    .shape = MapToScalar,
    .reference = MapHasKeyKernel,
});

const OpRegistration map_stack_keys({
    .name = "TensorMapStackKeys",
    .inputs = "input_handle: variant",
    .outputs = "keys: key_dtype",
    .attrs = "key_dtype: type",
    .shape = MapToUnknown,
    .reference = MapStackKeysKernel,
});

}  // namespace
}  // namespace tenon
