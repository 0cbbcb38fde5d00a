// The variables and changing tables of a session, by name. Every VarHandleOp with the same name, in
// the graph and in function bodies, refers to the same variable.
#ifndef TENON_RUNTIME_PLAN_SESSION_VARIABLES_H_
#define TENON_RUNTIME_PLAN_SESSION_VARIABLES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "kernels/state/mutable_table.h"
#include "kernels/state/shared_state.h"
#include "kernels/state/variable.h"

namespace tenon {

class SessionVariables {
 public:
  // The handle for a VarHandleOp node; the first node with a name creates its variable.
  // InvalidArgument if two nodes with one name have different dtypes. Only for use while a session
  // is created: not thread-safe.
  absl::StatusOr<Tensor> Handle(const Node& node);

  // The same for a MutableHashTableV2 node, with the dtypes of keys and values.
  absl::StatusOr<Tensor> TableHandle(const Node& node);

  // What nodes refer to by name without a handle.
  SharedStates& shared() { return shared_; }

  std::vector<std::string> Names() const;
  absl::StatusOr<Variable*> Find(absl::string_view name) const;

 private:
  OrderedMap<std::string, std::shared_ptr<Variable>> variables_;
  OrderedMap<std::string, std::shared_ptr<MutableTable>> tables_;
  SharedStates shared_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_SESSION_VARIABLES_H_
