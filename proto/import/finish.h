// Turns imported Drafts into Graphs: imports bodies of control-flow ops, freezes variables, and
// checks that every op is known and used correctly.
#ifndef TENON_PROTO_IMPORT_FINISH_H_
#define TENON_PROTO_IMPORT_FINISH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "proto/import/draft.h"
#include "proto/import/functionalize.h"
#include "proto/import/importer.h"
#include "proto/import/tables.h"
#include "proto/import/variables.h"

namespace tenon {

class Finisher {
 public:
  // `store` may be null (for a GraphDef).
  Finisher(Importer& importer, VariableStore* store, TableStore& tables)
      : importer_(importer), store_(store), tables_(tables) {}

  // The graph, with all functions that its control-flow ops reach in functions().
  absl::StatusOr<Graph> Finish(Draft draft);
  // The names of nodes, by op, whose op Tenon does not have.
  const OrderedMap<std::string, std::vector<std::string>>& missing() const { return missing_; }

 private:
  absl::Status FunctionalizeAll(Draft& top);
  absl::StatusOr<Graph> FinishBody(Draft draft, const std::string& where);
  // Turns control flow into the Stateless op if none of its functions has side effects.
  void MarkStateless(Draft& draft) const;
  // Imports the functions that control-flow nodes name. Handles of variables that are passed to
  // them move into the bodies, so that these can be frozen like any graph.
  absl::Status ImportBodies(Draft& draft);
  absl::Status ImportBodiesOf(Draft& draft, NodeId id, HashMap<Endpoint, Endpoint>& forward);
  // `captured`: by argument, the handle that it is; `unread`: not null for results to drop.
  absl::StatusOr<FuncRef> ImportBody(const FuncRef& function,
                                     const std::vector<const Node*>& captured,
                                     const std::vector<const Node*>& unread, bool loop_body);
  absl::Status CheckNodes(Draft& draft, const std::string& where);

  Importer& importer_;
  VariableStore* const store_;
  TableStore& tables_;
  std::vector<FunctionalizedBody> bodies_;  // callees first
  HashSet<std::string> changed_;            // VariableNames of variables that some body changes
  HashSet<std::string> changed_tables_;     // likewise, of tables
  FunctionLibrary library_;
  HashSet<std::string> with_side_effects_;      // functions of library_
  HashMap<std::string, std::string> imported_;  // function and captures -> its name
  std::vector<std::string> in_progress_;
  OrderedMap<std::string, std::vector<std::string>> missing_;
};

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_FINISH_H_
