// The steps of a plan under construction: their inputs and outputs, where these are, and the
// weights that they use. plan_builder.cc decides which steps there are.
#ifndef TENON_RUNTIME_PLAN_PLAN_STEPS_H_
#define TENON_RUNTIME_PLAN_PLAN_STEPS_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph/graph.h"
#include "kernels/interface/constant.h"
#include "runtime/execution/flat_plan.h"
#include "runtime/execution/handle_items.h"
#include "runtime/execution/kernel_cache.h"
#include "runtime/execution/step.h"
#include "runtime/plan/plan_devices.h"
#include "runtime/plan/plan_memory.h"

namespace tenon {

// Adds the node's name to an error.
absl::StatusOr<int> WithNode(const Node& node, absl::StatusOr<int> result);

// What is known of a tensor during planning.
struct PlanValue {
  TensorSpec spec;
  int buffer = -1;                 // -1: a constant that no step reads plain so far
  const Device* device = nullptr;  // where the buffer is; null: on the host
  Constant* constant = nullptr;    // the weight that this value is, with its own shape
  ItemState items = {};            // of a list, or behind the handle of a stack or an array so far
};

struct CallForm;  // runtime/plan/calls.h

class PlanSteps {
 public:
  using Inputs = absl::Span<PlanValue* const>;

  // A plan without a cache is a dry run: it gets no kernels.
  PlanSteps(FlatPlan& plan, PlanMemory& memory)
      : plan_(plan), memory_(memory), devices_(plan, memory) {}

  int now() const { return static_cast<int>(plan_.steps.size()); }
  bool dry_run() const { return plan_.cache == nullptr; }

  // The buffer from which a step reads this value.
  absl::StatusOr<int> BufferOf(PlanValue& value);
  // Gives the value a buffer that the CPU can read.
  absl::Status BringToHost(const Node& reader, PlanValue& value);

  // Adds a step with a prepared kernel.
  absl::Status AddFlat(const Node& node, std::shared_ptr<const PreparedKernel> owner, Inputs inputs,
                       const std::vector<PlanValue>& ports);
  // A Step of this class, whose outputs `ports` have buffers; `more` follows its arguments.
  template <typename T, typename... More>
  absl::Status Add(const Node& node, Inputs inputs, const std::vector<PlanValue>& ports,
                   More&&... more) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int> buffers, BuffersOf(inputs));
    Append(node.id,
           std::make_unique<T>(ArgsOf(inputs, buffers, ports), std::forward<More>(more)...));
    CountBytes(inputs, ports);
    return absl::OkStatus();
  }
  // Adds a step with a device's kernel, or control flow; `ports` get buffers.
  absl::Status AddDevice(const Node& node, Inputs inputs, std::vector<PlanValue>& ports);
  // `handles`: by input, the value that has the items of a stack or an array, or null.
  absl::Status AddCall(const Node& node, Inputs inputs, absl::Span<const TensorSpec> specs,
                       absl::Span<const TensorSpec> outputs, Inputs handles,
                       std::vector<PlanValue>& ports);
  // Adds lifetimes and sizes only.
  absl::Status AddDry(Inputs inputs, absl::Span<const TensorSpec> outputs);

  // The weights that steps use packed, and those that some step reads plain.
  const HashSet<Constant*>& packed() const { return packed_; }
  // Frees the plain values of weights that the node alone reads, and has packed, so that a model is
  // not in memory twice while its plan is built.
  void ReleasePacked(const Node& node);
  const HashSet<Constant*>& read_plain() const { return read_plain_; }
  size_t written_bytes() const { return written_bytes_; }  // in a dry run

 private:
  absl::Status AddElementCall(const Node& node, const CallForm& form, Inputs inputs,
                              absl::Span<const TensorSpec> outputs, std::vector<PlanValue>& ports);
  // The buffer of the value on a device.
  absl::StatusOr<int> DeviceBufferOf(const Node& reader, const Device& device, PlanValue& value);
  absl::StatusOr<std::vector<int>> BuffersOf(Inputs inputs);
  StepArgs ArgsOf(Inputs inputs, absl::Span<const int> buffers,
                  const std::vector<PlanValue>& ports);
  void Append(NodeId node, std::unique_ptr<Step> step);
  // Of the last step.
  void CountBytes(Inputs inputs, const std::vector<PlanValue>& ports);
  int NumReaders(NodeId id);

  FlatPlan& plan_;
  PlanMemory& memory_;
  PlanDevices devices_;
  HashSet<Constant*> packed_;
  HashSet<Constant*> read_plain_;
  size_t written_bytes_ = 0;
  std::vector<int> readers_;  // by node; empty: not counted yet
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_PLAN_STEPS_H_
