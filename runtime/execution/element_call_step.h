// The Xla ops that call functions of scalars (kernels/xla/element_calls.h).
#ifndef TENON_RUNTIME_EXECUTION_ELEMENT_CALL_STEP_H_
#define TENON_RUNTIME_EXECUTION_ELEMENT_CALL_STEP_H_

#include <utility>
#include <vector>

#include "graph/graph.h"
#include "runtime/execution/call_step.h"

namespace tenon {

// How an op calls its functions.
struct ElementCall {
  struct Argument {
    const char* attr;  // names the function
    bool combines;     // it gives as many results as the op; otherwise one bool
  };
  const char* op;
  std::vector<Argument> functions;  // each takes two elements for each of the op's results
};
// Null if the op is not of this kind.
const ElementCall* FindElementCall(absl::string_view op);

class ElementCallStep final : public CallStep {
 public:
  // `node` outlives the step. By function: whether it can be given vectors in place of scalars.
  ElementCallStep(StepArgs args, std::vector<Function*> functions, int state, const Node& node,
                  std::vector<bool> vectors)
      : CallStep(std::move(args), std::move(functions), state),
        node_(node),
        vectors_(std::move(vectors)) {}

 private:
  absl::Status Results(const Execution& run, Calls& calls) const override;
  // Applies the function to vectors of one length.
  absl::StatusOr<std::vector<Tensor>> Apply(int function, absl::Span<const Tensor> arguments,
                                            const Execution& run, Calls& calls) const;
  // Calls the function; it does not change the arguments.
  absl::StatusOr<std::vector<Tensor>> Call(int function, absl::Span<const Tensor> arguments,
                                           const Execution& run, Calls& calls) const;

  const Node& node_;
  const std::vector<bool> vectors_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_ELEMENT_CALL_STEP_H_
