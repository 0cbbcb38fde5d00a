// Variables: where their values lie in the checkpoint, and their freezing into constants.
#ifndef TENON_PROTO_IMPORT_VARIABLES_H_
#define TENON_PROTO_IMPORT_VARIABLES_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/checkpoint/bundle.h"
#include "proto/import/draft.h"
#include "proto/import/importer.h"

namespace tenon {

// The values of a SavedModel's variables, found when the first one is asked for.
class VariableStore {
 public:
  // `prefix` of the checkpoint; `restore_op` is the node that would restore it (may be empty).
  VariableStore(std::string prefix, std::string restore_op, Importer& importer,
                const BundleOptions& options)
      : prefix_(std::move(prefix)),
        restore_op_(std::move(restore_op)),
        importer_(importer),
        options_(options) {}

  // The value of a VarHandleOp or VariableV2 node. Checks dtype and shape against the node's.
  absl::StatusOr<Tensor> Value(const Node& variable);
  // What a RestoreV2 node of `draft` reads from the checkpoint for its output `port`.
  absl::StatusOr<Tensor> Restored(const Draft& draft, const Node& restore, int port);
  // The node that would restore the checkpoint; empty: none.
  std::string restore_node() const { return restore_op_.substr(0, restore_op_.find(':')); }

 private:
  absl::Status Open();
  // Follows the restore op: what it would assign to a variable tells the variable's key.
  absl::Status FollowRestoreOp();
  // The object graph in the checkpoint names variables and their keys too.
  absl::Status ReadObjectGraph();
  absl::StatusOr<std::string> Key(const std::string& variable, const std::string& node) const;

  const std::string prefix_;
  const std::string restore_op_;
  Importer& importer_;
  const BundleOptions options_;
  std::unique_ptr<Bundle> bundle_;
  absl::flat_hash_map<std::string, std::string> restored_;   // key by VariableName
  absl::flat_hash_map<std::string, std::string> by_object_;  // full name -> key
  absl::flat_hash_map<std::string, Tensor> loaded_;          // by key
};

// Whether the node stands for a variable, and what identifies that variable in the model.
bool IsVariable(const Node& node);
std::string VariableName(const Node& node);

// Adds the names of the variables that live nodes use other than by reading them.
void CollectChangedVariables(const Draft& draft, absl::flat_hash_set<std::string>& changed);

// Turns variables that nobody changes into Const nodes of the variable's name and drops the reads.
// The others stay as VarHandleOp, with their value in the checkpoint noted on the node, and what
// uses them as ReadVariableOp and the resource ops that change them; TensorFlow 1's variables
// become such, too. `store` is null for a GraphDef, which has no values: a variable that is only
// read is then a FailedPrecondition.
absl::Status FreezeVariables(Draft& draft, VariableStore* store,
                             const absl::flat_hash_set<std::string>& changed);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_VARIABLES_H_
