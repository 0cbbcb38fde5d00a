#include "runtime/eager/eager.h"

#include <utility>

#include "env/cpu.h"
#include "env/exceptions.h"
#include "env/helper_threads.h"
#include "env/spread_team.h"
#include "env/status.h"
#include "env/thread_budget.h"
#include "env/thread_count.h"
#include "primitive_cache/cache.h"
#include "runtime/eager/call_cache.h"
#include "runtime/eager/eager_queue.h"

namespace tenon {

EagerHandle::EagerHandle(Tensor value) : value_(std::make_shared<EagerValue>()) {
  value_->dtype = value.dtype();
  MutexLock lock(&value_->mutex);
  value_->result = std::move(value);
  value_->done = true;
}

DType EagerHandle::dtype() const { return value_->dtype; }

bool EagerHandle::ready() const {
  MutexLock lock(&value_->mutex);
  return value_->done;
}

absl::StatusOr<Tensor> EagerHandle::Read() const {
  EagerValue& value = *value_;
  MutexLock lock(&value.mutex);
  if (!value.done && value.generation != ForkGeneration()) {
    return absl::FailedPreconditionError("the call was submitted before fork(), by the parent");
  }
  value.mutex.Await([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return value.done; });
  return value.result;
}

namespace {

// Calls whose ops use all CPUs take turns anyway.
int Workers(int threads) { return std::max(1, AvailableCpus() / std::max(1, threads)); }

Services MakeServices(const Flags& flags, PrimitiveCache& primitives, int threads) {
  Services services;
  services.flags = &flags;
  services.cache = &primitives;
  services.threads = ThreadCount(threads, flags);
  return services;
}

absl::Status CheckGiven(absl::string_view op, bool valid) {
  if (valid) return absl::OkStatus();
  return InvalidArgument("op '", op, "' is given a tensor without elements");
}

}  // namespace

struct Eager::State {
  State(const Flags& f, int threads)
      : flags(f),
        primitives(PrimitiveCache::LimitsOf(f)),
        services(MakeServices(flags, primitives, threads)),
        calls(flags, services),
        queue(Workers(services.threads)) {}

  absl::StatusOr<std::vector<Tensor>> Run(const CallSite& site, absl::Span<const Tensor> inputs) {
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const EagerKernel> kernel,
                           calls.Kernel(site, inputs));
    TENON_RETURN_IF_ERROR(CheckHelperThreads(kernel->threads));
    const ThreadsInUse threads(kernel->threads);
    SpreadNowAndThen(kernel->threads);
    return RunKernel(kernel->prepared, inputs);
  }

  const Flags flags;
  PrimitiveCache primitives;
  const Services services;
  CallCache calls;
  EagerQueue queue;  // last: its calls use all of the above
};

Eager::Eager() = default;
Eager::~Eager() = default;

absl::StatusOr<std::unique_ptr<Eager>> Eager::Create(const SessionOptions& options) {
  TENON_RETURN_IF_ERROR(CheckCpu());
  Flags flags;
  if (options.flags.has_value()) {
    flags = *options.flags;
  } else {
    TENON_ASSIGN_OR_RETURN(flags, Flags::FromEnvironment());
  }
  return CatchExceptions([&]() -> absl::StatusOr<std::unique_ptr<Eager>> {
    std::unique_ptr<Eager> eager(new Eager());
    eager->state_ = std::make_unique<State>(flags, options.threads);
    return eager;
  });
}

absl::StatusOr<std::vector<Tensor>> Eager::Execute(absl::string_view op,
                                                   absl::Span<const Tensor> inputs,
                                                   const AttrMap& attrs) {
  return CatchExceptions([&]() -> absl::StatusOr<std::vector<Tensor>> {
    DTypes dtypes;
    for (const Tensor& t : inputs) {
      TENON_RETURN_IF_ERROR(CheckGiven(op, t.valid()));
      dtypes.push_back(t.dtype());
    }
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const CallSite> site,
                           state_->calls.Site(op, dtypes, attrs));
    absl::StatusOr<std::vector<Tensor>> results = state_->Run(*site, inputs);
    if (!results.ok()) return Annotate(results.status(), absl::StrCat("op '", op, "'"));
    return results;
  });
}

absl::StatusOr<std::vector<EagerHandle>> Eager::Submit(absl::string_view op,
                                                       absl::Span<const EagerHandle> inputs,
                                                       const AttrMap& attrs) {
  return CatchExceptions([&] { return SubmitOrThrow(op, inputs, attrs); });
}

absl::StatusOr<std::vector<EagerHandle>> Eager::SubmitOrThrow(absl::string_view op,
                                                              absl::Span<const EagerHandle> inputs,
                                                              const AttrMap& attrs) {
  DTypes dtypes;
  auto call = std::make_shared<EagerCall>();
  for (const EagerHandle& h : inputs) {
    TENON_RETURN_IF_ERROR(CheckGiven(op, h.dtype() != DType::kInvalid));
    dtypes.push_back(h.dtype());
    call->inputs.push_back(h.value());
  }
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const CallSite> site,
                         state_->calls.Site(op, dtypes, attrs));
  std::vector<EagerHandle> handles;
  for (DType dtype : site->output_dtypes()) {
    auto value = std::make_shared<EagerValue>();
    value->dtype = dtype;
    handles.emplace_back(value);
    call->outputs.push_back(std::move(value));
  }
  const bool stateful = site->op().row.stateful;
  call->run = [state = state_.get(), site = std::move(site)](
                  absl::Span<const Tensor> tensors) -> absl::StatusOr<std::vector<Tensor>> {
    absl::StatusOr<std::vector<Tensor>> results = state->Run(*site, tensors);
    if (results.ok()) return results;
    return Annotate(results.status(), absl::StrCat("op '", site->node().name, "'"));
  };
  state_->queue.Submit(std::move(call), stateful);
  return handles;
}

CacheStats Eager::kernel_stats() const { return state_->calls.stats(); }

namespace eager {

absl::StatusOr<Eager*> DefaultContext() {
  // Never destroyed, because threads may call while the process exits.
  static const auto* const context =
      new absl::StatusOr<std::unique_ptr<Eager>>(Eager::Create(SessionOptions()));
  if (!context->ok()) return context->status();
  return context->value().get();
}

absl::StatusOr<std::vector<Tensor>> Execute(absl::string_view op, absl::Span<const Tensor> inputs,
                                            const AttrMap& attrs) {
  TENON_ASSIGN_OR_RETURN(Eager* const context, DefaultContext());
  return context->Execute(op, inputs, attrs);
}

absl::StatusOr<std::vector<EagerHandle>> Submit(absl::string_view op,
                                                absl::Span<const EagerHandle> inputs,
                                                const AttrMap& attrs) {
  TENON_ASSIGN_OR_RETURN(Eager* const context, DefaultContext());
  return context->Submit(op, inputs, attrs);
}

}  // namespace eager
}  // namespace tenon
