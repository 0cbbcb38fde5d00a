// What a session holds: the model, its plans and kernels, and the disk cache's part.
#ifndef TENON_RUNTIME_SESSION_SESSION_STATE_H_
#define TENON_RUNTIME_SESSION_SESSION_STATE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "env/memory_account.h"
#include "env/mutex.h"
#include "env/team_size.h"
#include "primitive_cache/cache.h"
#include "runtime/disk_cache/disk_cache.h"
#include "runtime/execution/kernel_cache.h"
#include "runtime/plan/branch_forms.h"
#include "runtime/plan/model_state.h"
#include "runtime/plan/plan_cache.h"
#include "runtime/session/session.h"

namespace tenon {

struct MadePlan {
  std::vector<TensorSpec> inputs;
  std::weak_ptr<const Plan> plan;
};

// Members are destroyed from the bottom up: plans before kernels, kernels before constants and
// services.
struct Session::State {
  explicit State(const Flags& f)
      : flags(f),
        primitives(PrimitiveCache::LimitsOf(f)),
        kernels(CacheLimits{.entries = f.cache_entries, .bytes = f.cache_bytes}),
        plans(f.plan_entries, f.plan_bytes) {
    services.flags = &flags;
    services.cache = &primitives;
  }

  // The model, and its forms.
  void ForEachModel(absl::FunctionRef<void(const ModelState&)> visit) const {
    visit(*model);
    if (forms != nullptr) forms->ForEach(visit);
  }

  const Flags flags;
  std::shared_ptr<MemoryAccount> memory;  // null: no limit
  PrimitiveCache primitives;
  Services services;
  std::optional<TeamSize> team_size;         // of services.threads at most
  std::atomic<int64_t> small_team_runs = 0;  // on fewer threads than that
  SessionVariables variables;
  std::shared_ptr<const ModelState> model;
  std::unique_ptr<const BranchForms> forms;  // null: the model has no inputs that decide branches
  KernelCache kernels;
  PlanCache<Plan> plans;
  Precision precision = Precision::kFloat;
  const Device* device = nullptr;  // where nodes run if it has a kernel for them
  int on_devices = 0;
  ModelInterface interface;
  std::vector<Tensor> defaults;  // by input; invalid: none
  std::once_flag shapes_once;
  std::vector<Shape> output_shapes;

  mutable Mutex made_mutex;
  std::vector<MadePlan> made ABSL_GUARDED_BY(made_mutex);

  mutable Mutex split_mutex;
  absl::Status split_status ABSL_GUARDED_BY(split_mutex);

  // The disk cache: an entry to be written with the first plan, or one that was read and waits for
  // it.
  std::string cache_dir;
  mutable Mutex disk_mutex;
  DiskCacheReport disk ABSL_GUARDED_BY(disk_mutex);
  DiskCacheEntry entry ABSL_GUARDED_BY(disk_mutex);
  std::optional<DiskCacheDraft> draft ABSL_GUARDED_BY(disk_mutex);
  std::vector<std::shared_ptr<const PackedWeights>> restored ABSL_GUARDED_BY(disk_mutex);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_SESSION_SESSION_STATE_H_
