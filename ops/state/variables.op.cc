// TensorFlow 1 variables and checkpoints. Import turns those variables into resource variables or
// constants, and follows checkpoint ops to find their values, so these have signatures and no
// kernels, but for those that write names of files.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

absl::Status FilenameShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  return ScalarShape(c);
}

// Five digits, or more.
std::string Digits(int32_t number) {
  char digits[16];
  absl::SNPrintF(digits, sizeof(digits), "%05d", number);
  return digits;
}

// basename-00001-of-00004. As in TensorFlow, the basename ends at a NUL.
absl::StatusOr<std::unique_ptr<Kernel>> ShardedFilename(PrepareContext&) {
  return MakeKernel([](RunContext& run) {
    *run.output<std::string>(0) =
        absl::StrCat(run.input<std::string>(0)->c_str(), "-", Digits(*run.input<int32_t>(1)),
                     "-of-", Digits(*run.input<int32_t>(2)));
    return absl::OkStatus();
  });
}

const OpRegistration sharded_filename({
    .name = "ShardedFilename",
    .inputs = "basename: string, shard: int32, num_shards: int32",
    .outputs = "filename: string",
    .shape = FilenameShape,
    .reference = ShardedFilename,
});

// A pattern of all names, with five question marks for the first number.
absl::StatusOr<std::unique_ptr<Kernel>> ShardedFilespec(PrepareContext&) {
  return MakeKernel([](RunContext& run) {
    *run.output<std::string>(0) =
        absl::StrCat(run.input<std::string>(0)->c_str(), "-", std::string(5, '?'), "-of-",
                     Digits(*run.input<int32_t>(1)));
    return absl::OkStatus();
  });
}

const OpRegistration sharded_filespec({
    .name = "ShardedFilespec",
    .inputs = "basename: string, num_shards: int32",
    .outputs = "filename: string",
    .shape = FilenameShape,
    .reference = ShardedFilespec,
});

}  // namespace
}  // namespace tenon
