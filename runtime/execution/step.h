// A step of a plan that is more than a kernel prepared ahead: an object with one `Run`, made by the
// plan builder. Its shapes may be found out only by the run, or its outputs are tensors that it
// brings: a variable's, a function's result, what is on a device. Each kind is a class in a file of
// its own (*_step.h).
#ifndef TENON_RUNTIME_EXECUTION_STEP_H_
#define TENON_RUNTIME_EXECUTION_STEP_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "graph/tensor.h"
#include "runtime/execution/plan.h"

namespace tenon {

class Constant;
class Execution;

// A tensor that a step reads or writes.
struct StepArg {
  int buffer = -1;  // FlatPlan::buffers
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();  // where known ahead
  Constant* constant = nullptr;    // where it is a weight
  bool last_read = false;          // of a tensor that a step brought: nobody reads it afterwards
};

struct StepArgs {
  std::vector<StepArg> inputs;
  std::vector<StepArg> outputs;
};

class Step {
 public:
  explicit Step(StepArgs args) : args_(std::move(args)) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  // Reads its inputs and makes its outputs, through `run`. The caller says at which node an error
  // came up.
  virtual absl::Status Run(Execution& run) const = 0;

  // Whether it runs more than a kernel: functions, which may have any parallel regions, or what is
  // on a device.
  virtual bool RunsMore() const { return false; }

  // Adds to what is known of the node.
  virtual void Describe(StepInfo& info) const {}

  // The builder may still change them.
  StepArgs& args() { return args_; }
  const std::vector<StepArg>& inputs() const { return args_.inputs; }
  const std::vector<StepArg>& outputs() const { return args_.outputs; }

  size_t HeldBytes() const {
    return sizeof(Step) + (inputs().capacity() + outputs().capacity()) * sizeof(StepArg);
  }

 private:
  StepArgs args_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_STEP_H_
