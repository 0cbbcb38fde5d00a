// Loops whose iterations do not depend on each other, as tf.map_fn makes them: threads share the
// iterations.
#ifndef TENON_RUNTIME_EXECUTION_MAP_STEP_H_
#define TENON_RUNTIME_EXECUTION_MAP_STEP_H_

#include <memory>
#include <utility>
#include <vector>

#include "runtime/execution/call_step.h"

namespace tenon {

// Each variable is a counter, a list, or the same in all iterations.
struct MapLoop {
  struct List {
    size_t variable = 0, counter = 0;  // an iteration sets the item with the counter's number
  };
  std::vector<size_t> counters;  // int32 scalars; an iteration adds 1
  std::vector<List> lists;
};

class MapStep final : public WhileStep {
 public:
  // For plans of several threads. `alone`: the body, whose plans are made for the services that
  // they are asked for.
  MapStep(StepArgs args, std::vector<Function*> functions, int state, std::vector<Shape> general,
          MapLoop loop, std::unique_ptr<Function> alone)
      : WhileStep(std::move(args), std::move(functions), state, std::move(general)),
        loop_(std::move(loop)),
        alone_(std::move(alone)) {}

 private:
  absl::Status Results(const Execution& run, Calls& calls) const override;
  absl::StatusOr<int64_t> Count(const Execution& run, Calls& calls) const;
  // Iterations [begin, end), on the calling thread; from the loop's variables to what they are
  // afterwards. The lists are its own.
  absl::Status RunPart(int64_t begin, int64_t end, const Execution& run, PlanCall& call,
                       std::vector<Tensor>& variables) const;
  absl::StatusOr<std::vector<Tensor>> VariablesAt(int64_t iteration,
                                                  absl::Span<const Tensor> start) const;

  const MapLoop loop_;
  const std::unique_ptr<Function> alone_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_MAP_STEP_H_
