// Control-flow nodes in planning: the functions that they call, and what is known of the results.
#ifndef TENON_RUNTIME_PLAN_CALLS_H_
#define TENON_RUNTIME_PLAN_CALLS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/execution/handle_items.h"
#include "runtime/plan/body.h"

namespace tenon {

// The functions that a control-flow node calls.
struct CallForm {
  enum Kind { kIf, kCase, kBranch, kWhile, kElements } kind = kIf;
  // If: then, else. Case: the branches. Branch: the one that is taken. While: condition, body.
  // Elements: those of the op.
  std::vector<Body*> bodies;
  int first_input = 0;  // the first input that is an argument of the functions
};

bool IsCall(absl::string_view op);
// InvalidArgument if a function is missing or its signature does not match the node.
absl::StatusOr<CallForm> CallFormOf(const Node& node, const Bodies& bodies);
// Makes an If or a Case, whose first input is known, the call of one branch.
void ChooseBranch(const Node& node, const Tensor& selector, CallForm& form);

// Whether the function computes elementwise, so that it can be given vectors in place of scalars.
bool TakesVectors(const Body& body);

struct CallArguments {
  // Values where they are known; those of handles tell what is known of the tensors behind them.
  std::vector<TensorSpec> specs;
  std::vector<Constant*> constants;  // the weights among them
};

struct CallResult {
  Shape shape = Shape::Unknown();
  ItemState items = {};
  std::shared_ptr<const Tensor> value;  // null: not known
};

struct PlannedCall {
  std::vector<CallResult> results;
  std::vector<ItemState> items;  // afterwards, by argument; empty: not known
  std::vector<Shape> general;    // of a loop: what each variable's shapes have in common
  // By function: a plan for these arguments in particular; null: the function's own serve.
  std::vector<std::shared_ptr<const FlatPlan>> plans;
};

// What planning can know of a call: shapes that all branches, or all iterations, agree on. A
// function that cannot be planned reports its error at run time. Without a cache, no plans are
// made.
PlannedCall PlanCallOf(const CallForm& form, const CallArguments& arguments, size_t num_outputs,
                       const Services& services, KernelCache* cache);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_CALLS_H_
