// A plan: a graph compiled for given input shapes. Flat steps over a table of pointers; memory
// laid out ahead; kernels prepared. Immutable, run by any number of threads at once (executor.h),
// each with an ExecState of its own.
//
// Steps whose shapes only the run finds out are dynamic: they stand in the same list, but their
// kernel is prepared when they run (through the kernel cache) and their memory is allocated then.
#ifndef TENON_RUNTIME_PLAN_PLAN_H_
#define TENON_RUNTIME_PLAN_PLAN_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "ops/evaluate.h"
#include "runtime/execution/kernel_cache.h"
#include "runtime/memory/state_pool.h"
#include "runtime/plan/call_form.h"
#include "runtime/plan/model_state.h"

namespace tenon {

class Device;        // plugin/device.h
class DeviceKernel;  // plugin/kernel.h

// Where the bytes of a tensor are.
struct Buffer {
  enum class Kind {
    kNone,      // nobody reads or writes it
    kFeed,      // the caller's input number `index`
    kConstant,  // Plan::constants[index]
    kArena,     // at `offset` of the arena
    kOutput,    // allocated for the caller: Plan::owned_outputs[index]
    kStrings,   // kept by the ExecState: Plan::strings[index]
    kDynamic,   // of unknown shape, allocated while running: ExecState::dynamic[index]
    kHeld,      // of known shape, a tensor that a step brings (a variable's, a function's result):
                // ExecState::dynamic[index]
  };
  Kind kind = Kind::kNone;
  int index = -1;
  size_t offset = 0;
  size_t bytes = 0;
};

struct Step {
  const Kernel* kernel = nullptr;  // null: dynamic, see `dynamic`
  int inputs = 0;                  // first position in the pointer table
  int outputs = 0;                 // likewise
  int scratch = 0;                 // position
  int dynamic = -1;                // index into Plan::dynamic_steps
  int release_begin = 0;           // Plan::releases of this step
  int release_end = 0;
  NodeId node = kNoNode;
};

// What a step without a prepared kernel does.
enum class DynamicKind {
  kKernel,    // prepares its kernel and runs it
  kRead,      // takes a variable's tensor
  kItem,      // takes a list's tensor
  kCall,      // control flow: runs other plans
  kDevice,    // runs a kernel on a plug-in's device
  kToDevice,  // copies a tensor there
  kToHost,    // copies a tensor from there
};

// A tensor that a dynamic step reads or writes.
struct DynamicArg {
  int buffer = -1;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();  // where known ahead
  const Tensor* value = nullptr;   // where known ahead
  Constant* constant = nullptr;    // where it is a weight
};
struct DynamicStep {
  DynamicKind kind = DynamicKind::kKernel;
  int call = -1;  // index into Plan::calls
  const Device* device = nullptr;
  std::shared_ptr<const DeviceKernel> device_kernel;
  std::vector<DynamicArg> inputs;
  std::vector<DynamicArg> outputs;
};

struct PointerPatch {
  int position = 0;  // in the pointer table
  int index = 0;     // feed or owned output
};

struct PlanOutput {
  int buffer = -1;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();  // unknown: a dynamic tensor's
  Shape item = Shape::Unknown();   // of a list: its tensors', where known
};

// For reports and profiles: what runs, in the order of the steps.
struct StepInfo {
  std::string node;
  std::string op;
  std::string implementation;  // "" where only the run finds out
  double flops = 0;
  bool accelerated = false;
  bool dynamic = false;
  std::string device;  // "" for the CPU
};

struct Plan;

// A plan for few rows (slices along axis 0), run over and over instead of one for all of them, so
// that what the steps pass on to each other stays in the CPU's caches.
struct BatchSplit {
  std::shared_ptr<const Plan> part;
  int64_t parts = 0;
  std::vector<bool> split_feeds;    // the others are given whole to each part
  std::vector<TensorSpec> outputs;  // of the whole; in the order of Graph::outputs()
  std::vector<bool> split_outputs;  // the others are the same for each part
};

struct PlanStats {
  int nodes = 0;  // live nodes of the graph
  int steps = 0;
  int evaluated = 0;         // nodes computed while planning
  int aliased = 0;           // nodes that only pass memory on
  int in_place = 0;          // outputs written over an input
  int on_device = 0;         // nodes that run on a plug-in's device
  int copies_to_device = 0;  // in each run
  int copies_to_host = 0;
  size_t arena_bytes = 0;
  size_t unshared_bytes = 0;  // what the arena's tensors would take side by side
};

struct Plan {
  std::vector<TensorSpec> feeds;  // dtype kInvalid: not fed
  std::vector<Step> steps;
  std::vector<DynamicStep> dynamic_steps;
  std::vector<CallForm> calls;
  std::vector<Buffer> buffers;

  std::vector<int> pointers;  // the pointer table: a buffer each, -1 for null
  std::vector<PointerPatch> feed_pointers;
  std::vector<PointerPatch> output_pointers;

  std::vector<Tensor> constants;          // weights read plain, and values computed ahead
  std::vector<TensorSpec> owned_outputs;  // one allocation per run each
  std::vector<TensorSpec> strings;
  int num_dynamic = 0;
  std::vector<std::vector<int>> held_pointers;  // by dynamic index: positions to set
  std::vector<int> releases;                    // dynamic indices, in the order of their last steps
  size_t arena_bytes = 0;
  std::vector<PlanOutput> outputs;  // in the order of Graph::outputs()

  std::unique_ptr<const BatchSplit> split;  // given: the rest, but for feeds and stats, is empty

  PlanStats stats;

  // What the pointers above point into.
  std::shared_ptr<const ModelState> model;
  std::vector<std::shared_ptr<const PreparedKernel>> kernels;
  std::vector<std::shared_ptr<const Tensor>> values;
  Services services;
  KernelCache* cache = nullptr;  // outlives the plan

  std::unique_ptr<StatePool::Shelf> states;

  std::vector<StepInfo> Describe() const;
  // Those of the plan, and of parts.
  absl::Span<const std::shared_ptr<const PreparedKernel>> held_kernels() const {
    return split != nullptr ? split->part->held_kernels() : absl::MakeConstSpan(kernels);
  }
  // Steps, tables, values computed ahead and what executions leave between runs. Others hold the
  // rest: weights (the model), kernels, arenas (the model's pool).
  size_t HeldBytes() const;
};

// Compiles `model` for inputs of these dtypes and complete shapes, in the order of
// Graph::inputs(); an input of dtype kInvalid is not fed (an error where a node needs it and has
// no default); of a list's handle the value says what shape its tensors have. Weights that no step
// of this plan reads plain lose their plain copy. Errors name the node.
absl::StatusOr<std::shared_ptr<const Plan>> BuildPlan(std::shared_ptr<const ModelState> model,
                                                      absl::Span<const TensorSpec> feeds,
                                                      const Services& services, KernelCache& cache);

// What a plan for such feeds would do, found out without preparing kernels.
struct PlanSurvey {
  std::vector<std::vector<TensorSpec>> outputs;  // by node; values where they are known
  size_t arena_bytes = 0;                        // about
  size_t written_bytes = 0;                      // by all steps
  size_t weight_bytes = 0;                       // that steps read
  bool dynamic = false;                          // some step's shapes only the run finds out

  std::vector<std::shared_ptr<const Tensor>> values;  // what the specs point to
};
absl::StatusOr<PlanSurvey> SurveyPlan(std::shared_ptr<const ModelState> model,
                                      absl::Span<const TensorSpec> feeds, const Services& services);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_PLAN_H_
