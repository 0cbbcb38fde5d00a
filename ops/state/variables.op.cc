// TensorFlow 1 variables and checkpoints. Import turns those variables into resource variables or
// constants, and follows checkpoint ops to find their values, so these have signatures and no
// kernels.
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration variable_v2({
    .name = "VariableV2",
    .outputs = "ref: dtype",
    .attrs = "shape: shape; dtype: type; container: string = ; shared_name: string = ",
    .shape = UnknownShape,
    .stateful = true,
    .import_role = ImportRole::kReference,
});

const OpRegistration variable_v1({
    .name = "Variable",
    .outputs = "ref: dtype",
    .attrs = "shape: shape; dtype: type; container: string = ; shared_name: string = ",
    .shape = UnknownShape,
    .stateful = true,
    .import_role = ImportRole::kReference,
});

const OpRegistration is_variable_initialized({
    .name = "IsVariableInitialized",
    .inputs = "ref: dtype",
    .outputs = "is_initialized: bool",
    .attrs = "dtype: type",
    .shape = ScalarShape,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

const OpRegistration assign({
    .name = "Assign",
    .inputs = "ref: T, value: T",
    .outputs = "output_ref: T",
    .attrs = "T: type; validate_shape: bool = true; use_locking: bool = true",
    .shape = UnchangedShape,
    .stateful = true,
});

const OpRegistration assign_add({
    .name = "AssignAdd",
    .inputs = "ref: T, value: T",
    .outputs = "output_ref: T",
    .attrs = "T: type; use_locking: bool = false",
    .shape = UnchangedShape,
    .stateful = true,
});

const OpRegistration assign_sub({
    .name = "AssignSub",
    .inputs = "ref: T, value: T",
    .outputs = "output_ref: T",
    .attrs = "T: type; use_locking: bool = false",
    .shape = UnchangedShape,
    .stateful = true,
});

const OpRegistration restore_v2({
    .name = "RestoreV2",
    .inputs = "prefix: string, tensor_names: string, shape_and_slices: string",
    .outputs = "tensors: dtypes",
    .attrs = "dtypes: list(type)",
    .shape = UnknownShape,
    .stateful = true,
    .import_role = ImportRole::kRestores,
});

const OpRegistration save_v2({
    .name = "SaveV2",
    .inputs = "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes",
    .attrs = "dtypes: list(type)",
    .stateful = true,
});

const OpRegistration merge_checkpoints({
    .name = "MergeV2Checkpoints",
    .inputs = "checkpoint_prefixes: string, destination_prefix: string",
    .attrs = "delete_old_dirs: bool = true; allow_missing_files: bool = false",
    .stateful = true,
});

const OpRegistration sharded_filename({
    .name = "ShardedFilename",
    .inputs = "basename: string, shard: int32, num_shards: int32",
    .outputs = "filename: string",
    .shape = ScalarShape,
});

}  // namespace
}  // namespace tenon
