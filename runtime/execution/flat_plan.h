// A plan as a flat list of steps over a table of pointers, with memory laid out ahead and kernels
// prepared. Each run has an ExecState of its own. A warm run takes a state from the plan's shelf,
// sets the pointers of feeds and outputs, and calls one kernel after the other: no hashing, locks,
// virtual calls beside the kernel's own, or allocation per step.
#ifndef TENON_RUNTIME_EXECUTION_FLAT_PLAN_H_
#define TENON_RUNTIME_EXECUTION_FLAT_PLAN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "runtime/execution/handle_items.h"
#include "runtime/execution/kernel_cache.h"
#include "runtime/execution/plan.h"
#include "runtime/execution/step.h"
#include "runtime/memory/state_pool.h"

namespace tenon {

class ModelState;  // runtime/plan/model_state.h

// The part of a feed's shape that plans depend on: for a list's handle, its tensors' shape.
Shape FeedShape(const Tensor& feed);

// The location of a tensor's bytes.
struct Buffer {
  enum class Kind {
    kNone,      // nobody reads or writes it
    kFeed,      // the caller's input number `index`
    kConstant,  // FlatPlan::constants[index]
    kArena,     // at `offset` of the arena
    kOutput,    // allocated for the caller: FlatPlan::owned_outputs[index]
    kStrings,   // kept by the ExecState: FlatPlan::strings[index]
    kDynamic,   // of unknown shape, allocated during the run: ExecState::dynamic[index]
    kHeld,      // of known shape; a step provides the tensor (a variable's, a function's result):
                // ExecState::dynamic[index]
  };
  Kind kind = Kind::kNone;
  int index = -1;
  size_t offset = 0;
  size_t bytes = 0;
  bool part = false;  // from `part_offset` on, of a tensor in such a place
  size_t part_offset = 0;
};

// Which parallel regions a step had when it ran last. Any run may change it.
class StepRegions {
 public:
  enum Kind : uint8_t { kUnknown, kNone, kOne, kSeveral, kOthers };  // kOthers: oneDNN's

  StepRegions() = default;
  StepRegions(const StepRegions& other) : kind_(other.kind()) {}
  StepRegions& operator=(const StepRegions& other) {
    set(other.kind());
    return *this;
  }
  Kind kind() const { return kind_.load(std::memory_order_relaxed); }
  void set(Kind kind) { kind_.store(kind, std::memory_order_relaxed); }

 private:
  std::atomic<Kind> kind_ = kUnknown;
};

struct FlatStep {
  const Kernel* kernel = nullptr;  // prepared, of static shapes; null: `step` runs
  const Step* step = nullptr;
  int inputs = 0;         // first position in the pointer table
  int outputs = 0;        // likewise
  int scratch = 0;        // position
  int release_begin = 0;  // FlatPlan::releases of this step
  int release_end = 0;
  int take_begin = 0;  // FlatPlan::takes of this step
  int take_end = 0;
  NodeId node = kNoNode;
  mutable StepRegions regions;
  bool once = false;  // in later iterations of a loop, its results are still in the arena
};

// An output that is written over an input which nobody reads afterwards, if at that moment nobody
// else holds it either; otherwise into new memory. So a loop that changes a part of a tensor writes
// only that part.
struct Take {
  Buffer::Kind from = Buffer::Kind::kFeed;  // or kHeld
  int input = 0;                            // feed, or dynamic index
  int output = 0;                           // dynamic index
  TensorSpec spec;                          // of the output
};

struct PointerPatch {
  int position = 0;  // in the pointer table
  int index = 0;     // feed, owned output or dynamic index
  size_t offset = 0;
};

struct PlanOutput {
  int buffer = -1;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();  // unknown for a dynamic tensor
  ItemState items = {};            // of a list: what is known of its tensors
  bool last = false;               // no later output is the same buffer
};

// Filled by the plan builder, and read only after that.
struct FlatPlan final : Plan {
  std::vector<FlatStep> steps;
  std::vector<std::unique_ptr<Step>> dynamic_steps;  // those without a prepared kernel
  std::vector<Buffer> buffers;

  std::vector<int> pointers;  // the pointer table: a buffer each, -1 for null
  std::vector<PointerPatch> feed_pointers;
  std::vector<PointerPatch> output_pointers;

  std::vector<Tensor> constants;          // weights read plain, and values computed ahead
  std::vector<TensorSpec> owned_outputs;  // one allocation per run each
  std::vector<TensorSpec> strings;
  int num_dynamic = 0;
  std::vector<std::vector<PointerPatch>> held_pointers;  // by dynamic index
  std::vector<int> releases;  // dynamic indices, in the order of their last steps
  std::vector<Take> takes;    // in the order of their steps
  // Feed and owned output: after the run, the output of the next one gets the feed's memory.
  std::vector<std::pair<int, int>> recycled;
  int num_step_states = 0;
  std::vector<int64_t> moved_bytes;  // by step: StepInfo::bytes
  size_t arena_bytes = 0;
  std::vector<ArenaUse> arena_items;
  std::vector<PlanOutput> outputs;  // in the order of Graph::outputs()
  PlanStats counts;
  // What the plan was made for, by feed: the shape as FeedShape gives it, maybe partial.
  std::vector<std::pair<DType, Shape>> feeds;
  // What is behind each feed after a run, if it is the handle of a stack or a tensor array.
  std::vector<ItemState> feed_items;

  // The owners of what the pointers above point to.
  std::shared_ptr<const ModelState> model;
  const Graph* graph = nullptr;                                 // the model's
  std::vector<std::shared_ptr<const PreparedKernel>> prepared;  // by step
  std::vector<std::shared_ptr<const Tensor>> values;
  std::vector<std::shared_ptr<const void>> functions;  // made for this plan's calls
  Services services;
  KernelCache* cache = nullptr;  // outlives the plan

  std::unique_ptr<StatePool::Shelf> states;

  const PlanStats& stats() const override { return counts; }
  std::vector<StepInfo> Describe() const override;
  absl::Span<const ArenaUse> arena_use() const override { return arena_items; }
  size_t HeldBytes() const override;
  absl::Span<const std::shared_ptr<const PreparedKernel>> kernels() const override {
    return prepared;
  }

 private:
  absl::StatusOr<std::vector<Tensor>> DoRun(absl::Span<const Tensor> feeds,
                                            const RunOptions& options) const override;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_FLAT_PLAN_H_
