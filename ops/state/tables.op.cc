// Hash tables. Import turns a table that is filled or restored when the model is loaded and only
// looked up after into two constants, and the look-up into _TableFind; the other ops have
// signatures and no kernels.
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "env/status.h"
#include "kernels/interface/types.h"
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
});

const OpRegistration hash_table({
    .name = "HashTable",
    .outputs = "table_handle: string",
    .attrs = kTableAttrs,
    .shape = UnknownShape,
});

const OpRegistration mutable_hash_table_v2({
    .name = "MutableHashTableV2",
    .outputs = "table_handle: resource",
    .attrs = kTableAttrs,
    .shape = ScalarShape,
});

const OpRegistration mutable_hash_table({
    .name = "MutableHashTable",
    .outputs = "table_handle: string",
    .attrs = kTableAttrs,
    .shape = UnknownShape,
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
});

const OpRegistration mutable_dense_hash_table({
    .name = "MutableDenseHashTable",
    .inputs = "empty_key: key_dtype",
    .outputs = "table_handle: string",
    .attrs = kDenseTableAttrs,
    .shape = UnknownShape,
});

const OpRegistration initialize_table_v2({
    .name = "InitializeTableV2",
    .inputs = "table_handle: resource, keys: Tkey, values: Tval",
    .attrs = "Tkey: type; Tval: type",
    .stateful = true,
});

const OpRegistration initialize_table({
    .name = "InitializeTable",
    .inputs = "table_handle: string, keys: Tkey, values: Tval",
    .attrs = "Tkey: type; Tval: type",
    .stateful = true,
});

const OpRegistration lookup_table_import_v2({
    .name = "LookupTableImportV2",
    .inputs = "table_handle: resource, keys: Tin, values: Tout",
    .attrs = "Tin: type; Tout: type",
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
});

const OpRegistration initialize_from_text_file({
    .name = "InitializeTableFromTextFile",
    .inputs = "table_handle: string, filename: string",
    .attrs = kTextFileAttrs,
    .stateful = true,
});

const OpRegistration lookup_table_find_v2({
    .name = "LookupTableFindV2",
    .inputs = "table_handle: resource, keys: Tin, default_value: Tout",
    .outputs = "values: Tout",
    .attrs = "Tin: type; Tout: type",
    .shape = UnknownShape,
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
});

const OpRegistration lookup_table_size({
    .name = "LookupTableSize",
    .inputs = "table_handle: string",
    .outputs = "size: int64",
    .shape = ScalarShape,
});

const OpRegistration lookup_table_export_v2({
    .name = "LookupTableExportV2",
    .inputs = "table_handle: resource",
    .outputs = "keys: Tkeys, values: Tvalues",
    .attrs = "Tkeys: type; Tvalues: type",
    .shape = UnknownShape,
});

using KeyTypes = TypeList<std::string, int32_t, int64_t>;

// Position by key; the first of equal keys counts.
template <typename K>
class Index final : public DerivedConstant {
 public:
  Index(const K* keys, int64_t n) {
    positions_.reserve(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) positions_.emplace(keys[i], i);
  }
  // -1: none.
  int64_t Find(const K& key) const {
    const auto it = positions_.find(key);
    return it == positions_.end() ? -1 : it->second;
  }
  size_t bytes() const override { return positions_.capacity() * (sizeof(K) + sizeof(int64_t)); }

 private:
  absl::flat_hash_map<K, int64_t> positions_;
};

template <typename V>
void Pick(RunContext& run, int64_t i, int64_t position) {
  run.output<V>(0)[i] = position < 0 ? run.input<V>(1)[0] : run.input<V>(3)[position];
}

using PickFn = void (*)(RunContext& run, int64_t i, int64_t position);

// Values are copied, so only their size counts.
PickFn PickFor(DType dtype) {
  if (dtype == DType::kString) return Pick<std::string>;
  switch (SizeOf(dtype)) {
    case 1:
      return Pick<uint8_t>;
    case 2:
      return Pick<uint16_t>;
    case 4:
      return Pick<uint32_t>;
    case 8:
      return Pick<uint64_t>;
  }
  return nullptr;
}

template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> MakeFind(PrepareContext& p, PickFn pick) {
  const int64_t n = p.input_shape(0).num_elements(), size = p.input_shape(2).num_elements();
  std::shared_ptr<const Index<K>> shared;
  if (Constant* keys = p.constant(2)) {
    TENON_ASSIGN_OR_RETURN(
        std::shared_ptr<const DerivedConstant> form,
        keys->Derive("table index",
                     [](const Tensor& t) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
                       return std::make_shared<Index<K>>(t.data<K>(), t.num_elements());
                     }));
    shared = std::static_pointer_cast<const Index<K>>(std::move(form));
    p.InputNotRead(2);
  }
  return MakeKernel([n, size, shared, pick](RunContext& run) {
    std::shared_ptr<const Index<K>> index = shared;
    if (index == nullptr) index = std::make_shared<Index<K>>(run.input<K>(2), size);
    const K* keys = run.input<K>(0);
    for (int64_t i = 0; i < n; ++i) pick(run, i, index->Find(keys[i]));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Find(PrepareContext& p) {
  const PickFn pick = PickFor(p.output_dtype(0));
  if (pick == nullptr) return Unimplemented("values of ", Name(p.output_dtype(0)));
  absl::StatusOr<std::unique_ptr<Kernel>> kernel =
      Unimplemented("keys of ", Name(p.input_dtype(0)));
  VisitTypes(KeyTypes{}, p.input_dtype(0), [&]<typename K>() { kernel = MakeFind<K>(p, pick); });
  return kernel;
}

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
    .reference = Find,
    .internal = true,
});

}  // namespace
}  // namespace tenon
