// The variables of a session, by name. Every VarHandleOp of that name, in the graph and in function
// bodies, leads to the one variable.
#ifndef TENON_RUNTIME_PLAN_SESSION_VARIABLES_H_
#define TENON_RUNTIME_PLAN_SESSION_VARIABLES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "kernels/state/variable.h"

namespace tenon {

class SessionVariables {
 public:
  // The handle that a VarHandleOp node stands for; the first node of a name makes its variable.
  // InvalidArgument where two nodes of a name disagree about the dtype. Only while a session is
  // made: not thread-safe.
  absl::StatusOr<Tensor> Handle(const Node& node);

  std::vector<std::string> Names() const;
  absl::StatusOr<Variable*> Find(absl::string_view name) const;

 private:
  absl::btree_map<std::string, std::shared_ptr<Variable>> variables_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_SESSION_VARIABLES_H_
