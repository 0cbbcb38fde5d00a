#include "runtime/eager.h"

#include <algorithm>

#include "env/status.h"
#include "ops/evaluate.h"
#include "ops/rename.h"
#include "primitive_cache/cache.h"
#include "runtime/thread_budget.h"
#include "runtime/thread_count.h"

namespace tenon {

struct Eager::State {
  explicit State(const Flags& f)
      : flags(f),
        primitives({f.primitive_cache, f.cache_entries, f.cache_bytes}),
        kernels(f.cache_entries, f.cache_bytes) {
    services.flags = &flags;
    services.cache = &primitives;
  }

  const Flags flags;
  PrimitiveCache primitives;
  Services services;
  KernelCache kernels;
};

namespace {

// How many inputs an argument takes: those that the fixed ones after it leave over.
int64_t Variadic(const OpSignature& signature, size_t num_inputs) {
  int64_t rest = static_cast<int64_t>(num_inputs);
  for (const ArgSpec& arg : signature.inputs) {
    if (arg.number_attr.empty() && arg.type_list_attr.empty()) --rest;
  }
  return rest;
}

void FillFromInputs(const OpInfo& op, absl::Span<const Tensor> inputs, AttrMap& attrs) {
  size_t at = 0;
  for (const ArgSpec& arg : op.signature.inputs) {
    int64_t count = 1;
    if (!arg.number_attr.empty()) {
      attrs.try_emplace(arg.number_attr, Variadic(op.signature, inputs.size()));
      const int64_t* n = attrs.at(arg.number_attr).get_if<int64_t>();
      count = n == nullptr ? 0 : *n;
    } else if (!arg.type_list_attr.empty()) {
      count = Variadic(op.signature, inputs.size());
      std::vector<DType> dtypes;
      for (int64_t i = 0; i < count && at + static_cast<size_t>(i) < inputs.size(); ++i) {
        dtypes.push_back(inputs[at + static_cast<size_t>(i)].dtype());
      }
      attrs.try_emplace(arg.type_list_attr, dtypes);
    }
    if (!arg.type_attr.empty() && count > 0 && at < inputs.size()) {
      attrs.try_emplace(arg.type_attr, inputs[at].dtype());
    }
    at += static_cast<size_t>(std::max<int64_t>(count, 0));
  }
}

}  // namespace

Eager::Eager() = default;
Eager::~Eager() = default;

absl::StatusOr<std::unique_ptr<Eager>> Eager::Create(const SessionOptions& options) {
  Flags flags;
  if (options.flags.has_value()) {
    flags = *options.flags;
  } else {
    TENON_ASSIGN_OR_RETURN(flags, Flags::FromEnvironment());
  }
  std::unique_ptr<Eager> eager(new Eager());
  eager->state_ = std::make_unique<State>(flags);
  eager->state_->services.threads = ThreadCount(options.threads, flags);
  return eager;
}

absl::StatusOr<std::vector<Tensor>> Eager::Execute(const std::string& op,
                                                   absl::Span<const Tensor> inputs, AttrMap attrs) {
  const OpLookup found = FindOp(op);
  if (!found || found.native || found.info->row.internal) {
    return NotFound("there is no op '", op, "'");
  }
  Node node;
  node.name = op;
  node.op = op;
  node.attrs = std::move(attrs);
  FillFromInputs(*found.info, inputs, node.attrs);
  TENON_RETURN_IF_ERROR(CompleteAttrs(*found.info, node));
  if (state_->flags.onednn_opts && found.info->row.eager) {
    if (const char* native = NativeName(*found.info, node)) node.op = native;
  }

  std::vector<TensorSpec> specs;
  for (const Tensor& t : inputs) {
    if (!t.valid()) return InvalidArgument("op '", op, "' is given a tensor without elements");
    specs.push_back({t.dtype(), t.shape(), &t});
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<TensorSpec> outputs,
                         InferOutputs(*found.info, node, specs));
  const ThreadsInUse threads(state_->services.threads);
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const PreparedKernel> kernel,
                         state_->kernels.Prepare(node, specs, {}, outputs, state_->services));
  absl::StatusOr<std::vector<Tensor>> results = RunKernel(*kernel, inputs);
  if (!results.ok()) return Annotate(results.status(), absl::StrCat("op '", op, "'"));
  return results;
}

KernelCacheStats Eager::kernel_stats() const { return state_->kernels.stats(); }

}  // namespace tenon
