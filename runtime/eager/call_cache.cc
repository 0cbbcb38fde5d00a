#include "runtime/eager/call_cache.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "env/cpu.h"
#include "env/flags.h"
#include "env/status.h"
#include "env/thread_budget.h"
#include "ops/rename.h"
#include "runtime/plan/attr_hash.h"

namespace tenon {
namespace {

// Values that change from call to call (a computed axis) must not accumulate.
constexpr size_t kMaxVariants = 8;
// The number of inputs of a variadic argument: all that the fixed arguments leave.
int64_t Variadic(const OpSignature& signature, size_t num_inputs) {
  int64_t rest = static_cast<int64_t>(num_inputs);
  for (const ArgSpec& arg : signature.inputs) {
    if (arg.number_attr.empty() && arg.type_list_attr.empty()) --rest;
  }
  return rest;
}

void FillFromInputs(const OpInfo& op, absl::Span<const DType> inputs, AttrMap& attrs) {
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
        dtypes.push_back(inputs[at + static_cast<size_t>(i)]);
      }
      attrs.try_emplace(arg.type_list_attr, dtypes);
    }
    if (!arg.type_attr.empty() && count > 0 && at < inputs.size()) {
      attrs.try_emplace(arg.type_attr, inputs[at]);
    }
    at += static_cast<size_t>(std::max<int64_t>(count, 0));
  }
}

bool SameOutputs(const absl::StatusOr<std::vector<TensorSpec>>& a,
                 const std::vector<TensorSpec>& b) {
  return a.ok() && std::equal(a->begin(), a->end(), b.begin(), b.end(),
                              [](const TensorSpec& x, const TensorSpec& y) {
                                return x.dtype == y.dtype && x.shape == y.shape;
                              });
}

// Adds the inputs whose value the shape function used: without that value, it knows less or fails.
void AddShapeInputs(const OpInfo& op, const Node& node, std::vector<TensorSpec> specs,
                    const std::vector<TensorSpec>& outputs, std::vector<int>& used) {
  std::vector<TensorSpec> none = specs;
  for (TensorSpec& s : none) s.value = nullptr;
  if (SameOutputs(InferOutputs(op, node, none), outputs)) return;
  for (size_t i = 0; i < specs.size(); ++i) {
    const Tensor* value = std::exchange(specs[i].value, nullptr);
    if (!SameOutputs(InferOutputs(op, node, specs), outputs)) used.push_back(static_cast<int>(i));
    specs[i].value = value;
  }
}

bool Matches(const std::vector<std::pair<int, Tensor>>& values, absl::Span<const Tensor> inputs) {
  return std::all_of(values.begin(), values.end(), [&](const std::pair<int, Tensor>& v) {
    return Identical(inputs[static_cast<size_t>(v.first)], v.second);
  });
}

// Kernels made from a constant that has been replaced must go, because they hold the old value.
bool SameConstants(absl::Span<const std::shared_ptr<Constant>> a,
                   absl::Span<const std::shared_ptr<Constant>> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

size_t HashShapes(absl::Span<const Tensor> inputs, int threads) {
  size_t hash = absl::HashOf(inputs.size(), threads);
  for (const Tensor& t : inputs) hash = absl::HashOf(hash, t.shape());
  return hash;
}

std::vector<Services> ForThreads(const Services& services, int most) {
  std::vector<Services> all(static_cast<size_t>(most), services);
  for (int i = 0; i < most; ++i) all[static_cast<size_t>(i)].threads = i + 1;
  return all;
}

}  // namespace

CallCache::CallCache(const Flags& flags, const Services& services)
    : max_entries_(flags.cache_entries),
      max_bytes_(flags.cache_bytes),
      rename_(flags.onednn_opts),
      threads_(services.threads),
      services_(ForThreads(services, std::max(services.threads, AvailableCpus()))) {}

absl::StatusOr<std::shared_ptr<const CallSite>> CallCache::Site(absl::string_view op,
                                                                absl::Span<const DType> dtypes,
                                                                const AttrMap& attrs) {
  const size_t hash = HashAttrs(absl::HashOf(op, dtypes), attrs);
  Shard& shard = shards_[hash % shards_.size()];
  {
    MutexLock lock(&shard.mutex);
    if (auto it = shard.sites.find(hash); it != shard.sites.end()) {
      const CallSite& s = *it->second;
      if (s.name_ == op && absl::MakeConstSpan(s.dtypes_) == dtypes && s.attrs_ == attrs) {
        return it->second;
      }
    }
  }
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const CallSite> site, MakeSite(op, dtypes, attrs));
  if (!MakeRoom(0)) return site;
  MutexLock lock(&shard.mutex);
  return shard.sites[hash] = std::move(site);
}

absl::StatusOr<std::shared_ptr<const CallSite>> CallCache::MakeSite(absl::string_view op,
                                                                    absl::Span<const DType> dtypes,
                                                                    const AttrMap& attrs) const {
  const OpLookup found = FindOp(op);
  if (!found || found.native || found.info->row.internal) {
    return NotFound("there is no op '", op, "'");
  }
  auto site = std::make_shared<CallSite>();
  site->name_ = std::string(op);
  site->dtypes_.assign(dtypes.begin(), dtypes.end());
  site->attrs_ = attrs;
  Node& node = site->node_;
  node.name = site->name_;
  node.op = site->name_;
  node.attrs = attrs;
  FillFromInputs(*found.info, dtypes, node.attrs);
  TENON_RETURN_IF_ERROR(CompleteSite(*found.info, *site));
  if (rename_ && found.info->row.eager) {
    if (const char* native = NativeName(*found.info, node)) node.op = native;
  }
  return site;
}

absl::StatusOr<std::shared_ptr<const CallSite>> CallCache::NodeSite(const Node& node,
                                                                    const SmallCalls& small) const {
  const OpLookup found = FindOp(node.op);
  if (!found) return NotFound("there is no op '", node.op, "'");
  auto site = std::make_shared<CallSite>();
  site->name_ = node.name;
  site->node_ = node;
  site->small_ = small;
  TENON_RETURN_IF_ERROR(CompleteSite(*found.info, *site));
  if (rename_) {
    if (const char* native = NativeName(*found.info, node)) site->node_.op = native;
  }
  return site;
}

absl::Status CallCache::CompleteSite(const OpInfo& op, CallSite& site) const {
  site.op_ = &op;
  TENON_RETURN_IF_ERROR(CompleteAttrs(op, site.node_));
  TENON_ASSIGN_OR_RETURN(site.output_dtypes_, OutputDTypes(op, site.node_));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const EagerKernel>> CallCache::Kernel(
    const CallSite& site, absl::Span<const Tensor> inputs,
    absl::Span<const std::shared_ptr<Constant>> constants, int threads) {
  threads = std::min(threads > 0 ? threads : threads_, static_cast<int>(services_.size()));
  const size_t hash = HashShapes(inputs, threads);
  const auto is_for = [&](const CallSite::Entry& entry) {
    return entry.threads == threads &&
           std::equal(entry.shapes.begin(), entry.shapes.end(), inputs.begin(), inputs.end(),
                      [](const Shape& s, const Tensor& t) { return s == t.shape(); });
  };
  {
    MutexLock lock(&site.mutex_);
    if (const int64_t now = generation(); site.generation_ != now) {
      site.entries_.clear();
      site.generation_ = now;
    }
    if (auto it = site.entries_.find(hash); it != site.entries_.end() && is_for(it->second)) {
      for (const CallSite::Variant& v : it->second.variants) {
        if (!SameConstants(v.constants, constants) || !Matches(v.values, inputs)) continue;
        hits_.fetch_add(1, std::memory_order_relaxed);
        return v.kernel;
      }
    }
  }
  misses_.fetch_add(1, std::memory_order_relaxed);
  TENON_ASSIGN_OR_RETURN(CallSite::Variant made, Prepare(site, inputs, constants, threads));
  std::shared_ptr<const EagerKernel> kernel = made.kernel;
  if (!MakeRoom(static_cast<int64_t>(kernel->prepared.kernel->HeldBytes()))) return kernel;
  MutexLock lock(&site.mutex_);
  CallSite::Entry& entry = site.entries_[hash];
  if (!is_for(entry)) {
    entry.variants.clear();
    entry.shapes.clear();
    entry.threads = threads;
    for (const Tensor& t : inputs) entry.shapes.push_back(t.shape());
  }
  std::erase_if(entry.variants, [&](const CallSite::Variant& v) {
    return !v.constants.empty() && !SameConstants(v.constants, constants);
  });
  if (entry.variants.size() >= kMaxVariants) entry.variants.erase(entry.variants.begin());
  entry.variants.push_back(std::move(made));
  return kernel;
}

absl::StatusOr<CallSite::Variant> CallCache::Prepare(
    const CallSite& site, absl::Span<const Tensor> inputs,
    absl::Span<const std::shared_ptr<Constant>> constants, int threads) const {
  std::vector<TensorSpec> specs;
  size_t bytes = 0;
  for (const Tensor& t : inputs) {
    specs.push_back({t.dtype(), t.shape(), &t});
    bytes += t.bytes();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<TensorSpec> outputs,
                         InferOutputs(site.op(), site.node(), specs));
  bool small = true;
  for (const TensorSpec& o : outputs) {
    small &= o.shape.IsComplete();
    if (small) bytes += static_cast<size_t>(o.shape.num_elements()) * SizeOf(o.dtype);
  }
  const SmallCalls& limits = site.small_;
  small &= bytes <= std::max(limits.bytes, limits.contraction_bytes);
  std::vector<Constant*> given;
  for (const std::shared_ptr<Constant>& c : constants) given.push_back(c.get());
  const auto prepare = [&](int use) {
    const ThreadsInUse in_use(use);
    return PrepareNode(site.node(), specs, given, services_[static_cast<size_t>(use - 1)]);
  };
  TENON_ASSIGN_OR_RETURN(PreparedKernel prepared, prepare(small ? 1 : threads));
  const double flops = prepared.kernel->Flops();
  if (small && (flops > 0 ? flops > limits.flops || bytes > limits.contraction_bytes
                          : bytes > limits.bytes)) {
    small = false;
    TENON_ASSIGN_OR_RETURN(prepared, prepare(threads));
  }
  std::vector<int> used = prepared.value_inputs;
  AddShapeInputs(site.op(), site.node(), specs, outputs, used);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());

  CallSite::Variant variant;
  variant.constants.assign(constants.begin(), constants.end());
  for (int i : used) {
    // A copy: the caller may overwrite the value.
    TENON_ASSIGN_OR_RETURN(Tensor value, inputs[static_cast<size_t>(i)].Clone());
    variant.values.emplace_back(i, std::move(value));
  }
  variant.kernel = std::make_shared<const EagerKernel>(EagerKernel{
      std::move(prepared), small ? 1 : threads, max_entries_ > 0 && variant.values.empty()});
  return variant;
}

bool CallCache::MakeRoom(int64_t bytes) {
  if (max_entries_ <= 0 || bytes > max_bytes_) return false;
  if (entries_.fetch_add(1) >= max_entries_ || bytes_.fetch_add(bytes) + bytes > max_bytes_) {
    Clear();
    entries_.fetch_add(1);
    bytes_.fetch_add(bytes);
  }
  return true;
}

void CallCache::Clear() {
  for (Shard& shard : shards_) {
    MutexLock lock(&shard.mutex);
    shard.sites.clear();
  }
  generation_.fetch_add(1);  // for sites that others keep
  entries_ = 0;
  bytes_ = 0;
}

KernelCacheStats CallCache::stats() const {
  KernelCacheStats stats;
  stats.hits = hits_;
  stats.misses = misses_;
  stats.entries = entries_;
  return stats;
}

}  // namespace tenon
