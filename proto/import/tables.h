// Hash tables. Those that a model initializes when it is loaded, or restores from its checkpoint,
// and then only reads become constants; those that it changes are kept by the session.
#ifndef TENON_PROTO_IMPORT_TABLES_H_
#define TENON_PROTO_IMPORT_TABLES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "graph/tensor.h"
#include "proto/import/constant_value.h"
#include "proto/import/draft.h"
#include "proto/import/importer.h"
#include "proto/import/table_content.h"

namespace tenon {

bool IsTable(const Node& node);

// The contents that the model's initializers give its tables, determined when the first one is
// requested.
class TableStore {
 public:
  // `init_targets`: nodes that TensorFlow would run after loading; if there are none, every
  // initializer of a table in the graph counts. `store` has the checkpoint; null if there is none.
  TableStore(Importer& importer, std::vector<std::string> init_targets, AssetFiles assets,
             VariableStore* store)
      : importer_(importer),
        init_targets_(std::move(init_targets)),
        assets_(std::move(assets)),
        store_(store) {}

  using Content = TableContent;
  // FailedPrecondition if nothing initializes the table.
  absl::StatusOr<const Content*> Find(const Node& table);

 private:
  absl::Status Load();
  // Mutable tables are initialized by the node that restores the checkpoint.
  absl::Status Fill(const std::vector<std::string>& targets);
  absl::Status Initialize(const Draft& draft, const Node& initializer);
  absl::StatusOr<Tensor> ValueOf(const Draft& draft, Endpoint e) const {
    return ConstantValue(draft, e, assets_, store_);
  }

  Importer& importer_;
  const std::vector<std::string> init_targets_;
  const AssetFiles assets_;
  VariableStore* const store_;
  bool loaded_ = false;
  absl::Status status_;
  HashMap<std::string, Content> contents_;  // by VariableName
};

// Anonymous tables get their node's name. Dense tables of scalars become hash tables. Those need no
// inputs, which mark a dense table's empty places. So a function's body can have the handle by
// itself.
void SimplifyTables(Draft& draft);

// Adds the names of the mutable tables that live nodes change.
void CollectChangedTables(const Draft& draft, HashSet<std::string>& changed);

// Tables that nobody changes: turns lookups into _TableFind on constants, wordpieces into
// _WordpieceTokenize, and sizes and exports into constants. Those in `changed` become
// MutableHashTableV2 with a note of their contents in the checkpoint.
absl::Status FreezeTables(Draft& draft, TableStore& store, const HashSet<std::string>& changed);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_TABLES_H_
