// Finds the values of variables in the checkpoint, and freezes variables into constants.
#ifndef TENON_PROTO_IMPORT_VARIABLES_H_
#define TENON_PROTO_IMPORT_VARIABLES_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "proto/checkpoint/bundle.h"
#include "proto/import/constant_value.h"
#include "proto/import/draft.h"
#include "proto/import/importer.h"

namespace tenon {

// The values of a SavedModel's variables, located when the first one is requested.
class VariableStore {
 public:
  // `prefix` is the checkpoint's (empty: there is none, and values are FailedPrecondition);
  // `restore_op` is the node that would restore it (may be empty).
  VariableStore(std::string prefix, std::string restore_op, Importer& importer,
                const BundleOptions& options)
      : prefix_(std::move(prefix)),
        restore_op_(std::move(restore_op)),
        importer_(importer),
        options_(options) {}

  // What TensorFlow runs after loading: the variables that it assigns need not be in the
  // checkpoint.
  void SetInitializers(std::vector<std::string> nodes, AssetFiles assets) {
    initializers_ = std::move(nodes);
    assets_ = std::move(assets);
  }

  // The value of a VarHandleOp or VariableV2 node. Checks dtype and shape against the node.
  absl::StatusOr<Tensor> Value(const Node& variable);
  // The value that a RestoreV2 node of `draft` reads from the checkpoint for its output `port`.
  absl::StatusOr<Tensor> Restored(const Draft& draft, const Node& restore, int port);
  // The node that would restore the checkpoint; empty if there is none.
  std::string restore_node() const { return restore_op_.substr(0, restore_op_.find(':')); }

 private:
  absl::Status Open();
  // Follows the restore op: its assignments tell each variable's key.
  absl::Status FollowRestoreOp();
  // A model of Keras 3 restores copies of its variables, which are initialized from those that its
  // signatures read. Their names tell nothing: the export makes them unique, and the checkpoint has
  // them as they were.
  absl::Status FollowCopies();
  // Reads the object graph in the checkpoint, which also maps variables to keys.
  absl::Status ReadObjectGraph();
  absl::StatusOr<std::string> Key(const std::string& variable, const std::string& node) const;
  // The value that the initializers give it. NotFound if none does.
  absl::StatusOr<Tensor> Initialized(const std::string& variable);

  const std::string prefix_;
  const std::string restore_op_;
  Importer& importer_;
  const BundleOptions options_;
  std::unique_ptr<Bundle> bundle_;
  absl::Status opened_;                          // of the first try
  HashMap<std::string, std::string> restored_;   // key by VariableName
  HashMap<std::string, std::string> by_object_;  // full name -> key
  HashMap<std::string, Tensor> loaded_;          // by key
  std::vector<std::string> initializers_;
  AssetFiles assets_;
  std::optional<Draft> initial_;  // the initializers, once a variable has needed them
};

// Whether the node is a variable, and the name that identifies that variable in the model.
bool IsVariable(const Node& node);
std::string VariableName(const Node& node);

// Adds the names of the variables that live nodes use in other ways than reading.
void CollectChangedVariables(const Draft& draft, HashSet<std::string>& changed);

// Turns variables that nobody changes into Const nodes with the variable's name and drops the
// reads. Other variables, including TensorFlow 1's, become VarHandleOp with a note of their value
// in the checkpoint; their uses become ReadVariableOp and resource ops. `store` is null for a
// GraphDef, which has no values: then a variable that is only read is a FailedPrecondition.
absl::Status FreezeVariables(Draft& draft, VariableStore* store,
                             const HashSet<std::string>& changed);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_VARIABLES_H_
