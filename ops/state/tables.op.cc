// Hash tables. If a table is initialized or restored when the model is loaded, and only read
// afterwards, import turns it into two constants, and the lookup into _TableFind. A mutable table
// that the model changes while it runs is kept by the session, which puts it behind the handle;
// the ops with kernels work on such tables. The other ops have signatures and no kernels.
#include "env/status.h"
#include "kernels/state/mutable_table.h"
#include "kernels/state/table.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kTableAttrs[] =
    "container: string = ; shared_name: string = ; use_node_name_sharing: bool = false; "
    "key_dtype: type; value_dtype: type";

const OpRegistration hash_table_v2({
    .name = "HashTableV2",
    .outputs = "table_handle: resource",
    .attrs = kTableAttrs,
    .shape = ScalarShape,
    .import_role = ImportRole::kTable,
});

const OpRegistration hash_table({
    .name = "HashTable",
    .outputs = "table_handle: string",
    .attrs = kTableAttrs,
    .shape = UnknownShape,
    .import_role = ImportRole::kTable,
});

const OpRegistration mutable_hash_table_v2({
    .name = "MutableHashTableV2",
    .outputs = "table_handle: resource",
    .attrs = kTableAttrs,
    .shape = ScalarShape,
    .import_role = ImportRole::kMutableTable,
});

const OpRegistration mutable_hash_table({
    .name = "MutableHashTable",
    .outputs = "table_handle: string",
    .attrs = kTableAttrs,
    .shape = UnknownShape,
    .import_role = ImportRole::kMutableTable,
});

constexpr char kAnonymousTableAttrs[] = "key_dtype: type; value_dtype: type";

const OpRegistration anonymous_hash_table({
    .name = "AnonymousHashTable",
    .outputs = "table_handle: resource",
    .attrs = kAnonymousTableAttrs,
    .shape = ScalarShape,
    .import_role = ImportRole::kTable,
});

const OpRegistration anonymous_mutable_hash_table({
    .name = "AnonymousMutableHashTable",
    .outputs = "table_handle: resource",
    .attrs = kAnonymousTableAttrs,
    .shape = ScalarShape,
    .import_role = ImportRole::kMutableTable,
});

constexpr char kDenseTableAttrs[] =
    "container: string = ; shared_name: string = ; use_node_name_sharing: bool = false; "
    "key_dtype: type; value_dtype: type; value_shape: shape = ?; "
    "initial_num_buckets: int = 131072; max_load_factor: float = 0.8";

const OpRegistration mutable_dense_hash_table_v2({
    .name = "MutableDenseHashTableV2",
    .inputs = "empty_key: key_dtype, deleted_key: key_dtype",
    .outputs = "table_handle: resource",
    .attrs = kDenseTableAttrs,
    .shape = ScalarShape,
    .import_role = ImportRole::kMutableTable,
});

const OpRegistration mutable_dense_hash_table({
    .name = "MutableDenseHashTable",
    .inputs = "empty_key: key_dtype",
    .outputs = "table_handle: string",
    .attrs = kDenseTableAttrs,
    .shape = UnknownShape,
    .import_role = ImportRole::kMutableTable,
});

constexpr char kTensorTableAttrs[] =
    "container: string = ; shared_name: string = ; use_node_name_sharing: bool = false; "
    "key_dtype: type; value_dtype: type; value_shape: shape = ?";

const OpRegistration mutable_hash_table_of_tensors_v2({
    .name = "MutableHashTableOfTensorsV2",
    .outputs = "table_handle: resource",
    .attrs = kTensorTableAttrs,
    .shape = ScalarShape,
    .import_role = ImportRole::kMutableTable,
});

const OpRegistration mutable_hash_table_of_tensors({
    .name = "MutableHashTableOfTensors",
    .outputs = "table_handle: string",
    .attrs = kTensorTableAttrs,
    .shape = UnknownShape,
    .import_role = ImportRole::kMutableTable,
});

const OpRegistration anonymous_mutable_hash_table_of_tensors({
    .name = "AnonymousMutableHashTableOfTensors",
    .outputs = "table_handle: resource",
    .attrs = "key_dtype: type; value_dtype: type; value_shape: shape = ?",
    .shape = ScalarShape,
    .import_role = ImportRole::kMutableTable,
});

const OpRegistration anonymous_mutable_dense_hash_table({
    .name = "AnonymousMutableDenseHashTable",
    .inputs = "empty_key: key_dtype, deleted_key: key_dtype",
    .outputs = "table_handle: resource",
    .attrs = "key_dtype: type; value_dtype: type; value_shape: shape = ?; "
             "initial_num_buckets: int = 131072; max_load_factor: float = 0.8",
    .shape = ScalarShape,
    .import_role = ImportRole::kMutableTable,
});

const OpRegistration initialize_table_v2({
    .name = "InitializeTableV2",
    .inputs = "table_handle: resource, keys: Tkey, values: Tval",
    .attrs = "Tkey: type; Tval: type",
    .stateful = true,
    .import_role = ImportRole::kFillsTable,
});

const OpRegistration initialize_table({
    .name = "InitializeTable",
    .inputs = "table_handle: string, keys: Tkey, values: Tval",
    .attrs = "Tkey: type; Tval: type",
    .stateful = true,
    .import_role = ImportRole::kFillsTable,
});

const OpRegistration lookup_table_import_v2({
    .name = "LookupTableImportV2",
    .inputs = "table_handle: resource, keys: Tin, values: Tout",
    .attrs = "Tin: type; Tout: type",
    .reference = MutableTableImportKernel,
    .stateful = true,
    .import_role = ImportRole::kFillsTable,
});

const OpRegistration lookup_table_insert_v2({
    .name = "LookupTableInsertV2",
    .inputs = "table_handle: resource, keys: Tin, values: Tout",
    .attrs = "Tin: type; Tout: type",
    .reference = MutableTableInsertKernel,
    .stateful = true,
});

const OpRegistration lookup_table_remove_v2({
    .name = "LookupTableRemoveV2",
    .inputs = "table_handle: resource, keys: Tin",
    .attrs = "Tin: type",
    .reference = MutableTableRemoveKernel,
    .stateful = true,
});

constexpr char kTextFileAttrs[] =
    "key_index: int; value_index: int; vocab_size: int = -1; delimiter: string = \t; "
    "offset: int = 0";

const OpRegistration initialize_from_text_file_v2({
    .name = "InitializeTableFromTextFileV2",
    .inputs = "table_handle: resource, filename: string",
    .attrs = kTextFileAttrs,
    .stateful = true,
    .import_role = ImportRole::kFillsTableFromText,
});

const OpRegistration initialize_from_text_file({
    .name = "InitializeTableFromTextFile",
    .inputs = "table_handle: string, filename: string",
    .attrs = kTextFileAttrs,
    .stateful = true,
    .import_role = ImportRole::kFillsTableFromText,
});

// Import states the values' shape, if they are no scalars.
Shape JoinValueShape(Shape shape, const ShapeContext& c) {
  const Shape* value_shape = c.node().attr<Shape>(kValueShapeAttr);
  if (value_shape == nullptr || !shape.has_rank()) return shape;
  for (const int64_t d : value_shape->dims()) shape.push_back(d);
  return shape;
}

absl::Status LookupShape(ShapeContext& c) {
  c.set_output(0, JoinValueShape(c.input(1), c));
  return absl::OkStatus();
}

const OpRegistration lookup_table_find_v2({
    .name = "LookupTableFindV2",
    .inputs = "table_handle: resource, keys: Tin, default_value: Tout",
    .outputs = "values: Tout",
    .attrs = "Tin: type; Tout: type",
    .shape = LookupShape,
    .reference = MutableTableFindKernel,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

const OpRegistration lookup_table_find({
    .name = "LookupTableFind",
    .inputs = "table_handle: string, keys: Tin, default_value: Tout",
    .outputs = "values: Tout",
    .attrs = "Tin: type; Tout: type",
    .shape = UnknownShape,
});

const OpRegistration lookup_table_size_v2({
    .name = "LookupTableSizeV2",
    .inputs = "table_handle: resource",
    .outputs = "size: int64",
    .shape = ScalarShape,
    .reference = MutableTableSizeKernel,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

const OpRegistration lookup_table_size({
    .name = "LookupTableSize",
    .inputs = "table_handle: string",
    .outputs = "size: int64",
    .shape = ScalarShape,
});

absl::Status ExportShape(ShapeContext& c) {
  c.set_output(0, Shape({-1}));
  c.set_output(1, JoinValueShape(Shape({-1}), c));
  return absl::OkStatus();
}

const OpRegistration lookup_table_export_v2({
    .name = "LookupTableExportV2",
    .inputs = "table_handle: resource",
    .outputs = "keys: Tkeys, values: Tvalues",
    .attrs = "Tkeys: type; Tvalues: type",
    .shape = ExportShape,
    .reference = MutableTableExportKernel,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

absl::Status FindShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 1));
  if (c.input(2).IsComplete() && c.input(3).IsComplete() &&
      c.input(2).dim(0) != c.input(3).dim(0)) {
    return InvalidArgument("the table has ", c.input(2).dim(0), " keys and ", c.input(3).dim(0),
                           " values");
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

const OpRegistration table_find({
    .name = "_TableFind",
    .inputs = "keys: Tin, default_value: Tout, table_keys: Tin, table_values: Tout",
    .outputs = "values: Tout",
    .attrs = "Tin: type; Tout: type",
    .types = "Tin: string int32 int64",
    .shape = FindShape,
    .reference = TableFindKernel,
    .internal = true,
});

}  // namespace
}  // namespace tenon
