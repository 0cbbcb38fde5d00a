// Runs one op by its row in the table, as a graph with that node alone would.
#ifndef TENON_TESTS_UNIT_OPS_RUN_OP_H_
#define TENON_TESTS_UNIT_OPS_RUN_OP_H_

#include <string>
#include <utility>
#include <vector>

#include "env/flags.h"
#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {

// The outputs of a node named `name`; attributes that are not given have their defaults. NotFound
// if there is no such op.
inline absl::StatusOr<std::vector<Tensor>> RunOp(const std::string& op, AttrMap attrs,
                                                 const std::vector<Tensor>& inputs, int threads = 1,
                                                 const std::string& name = "node") {
  const OpLookup found = FindOp(op);
  if (!found) return NotFound("no op ", op);
  Node node;
  node.name = name;
  node.op = op;
  node.attrs = std::move(attrs);
  TENON_RETURN_IF_ERROR(CompleteAttrs(*found.info, node));
  const Flags flags;
  Services services;
  services.flags = &flags;
  services.threads = threads;
  return Evaluate(node, inputs, services);
}

}  // namespace tenon

#endif  // TENON_TESTS_UNIT_OPS_RUN_OP_H_
