#include "runtime/eager/call_cache.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "env/cpu.h"
#include "env/flags.h"
#include "env/helper_threads.h"
#include "env/status.h"
#include "env/thread_budget.h"
#include "kernels/random/sequence.h"
#include "ops/rename.h"
#include "runtime/execution/attr_hash.h"

namespace tenon {
namespace {

const std::string& LengthAttr(const ArgSpec& arg) {
  return arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr;
}

// The length of a list that `attr` describes, or -1 if `attrs` does not have it.
int64_t GivenLength(const AttrMap& attrs, const std::string& attr) {
  const auto found = attrs.find(attr);
  if (found == attrs.end()) return -1;
  if (const int64_t* n = found->second.get_if<int64_t>()) return std::max<int64_t>(*n, 0);
  const auto* types = found->second.get_if<std::vector<DType>>();
  return types == nullptr ? 0 : std::ssize(*types);
}

// The same, or what the other inputs leave, shared by the lists that `attr` describes.
int64_t ListLength(const OpSignature& signature, size_t num_inputs, const AttrMap& attrs,
                   const std::string& attr) {
  if (const int64_t given = GivenLength(attrs, attr); given >= 0) return given;
  int64_t rest = static_cast<int64_t>(num_inputs), lists = 0;
  for (const ArgSpec& arg : signature.inputs) {
    const std::string& other = LengthAttr(arg);
    rest -= other.empty() ? 1 : std::max<int64_t>(GivenLength(attrs, other), 0);
    lists += other == attr;
  }
  return std::max<int64_t>(rest, 0) / lists;
}

void FillFromInputs(const OpInfo& op, absl::Span<const DType> inputs, AttrMap& attrs) {
  size_t at = 0;
  for (const ArgSpec& arg : op.signature.inputs) {
    const std::string& length = LengthAttr(arg);
    const int64_t count =
        length.empty() ? 1 : ListLength(op.signature, inputs.size(), attrs, length);
    if (!arg.number_attr.empty()) {
      attrs.try_emplace(arg.number_attr, count);
    } else if (!arg.type_list_attr.empty()) {
      std::vector<DType> dtypes;
      for (int64_t i = 0; i < count && at + static_cast<size_t>(i) < inputs.size(); ++i) {
        dtypes.push_back(inputs[at + static_cast<size_t>(i)]);
      }
      attrs.try_emplace(arg.type_list_attr, dtypes);
    }
    if (!arg.type_attr.empty() && count > 0 && at < inputs.size()) {
      attrs.try_emplace(arg.type_attr, inputs[at]);
    }
    at += static_cast<size_t>(count);
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

std::vector<Services> ForThreads(const Services& services, int most) {
  std::vector<Services> all(static_cast<size_t>(most), services);
  for (int i = 0; i < most; ++i) all[static_cast<size_t>(i)].threads = i + 1;
  return all;
}

}  // namespace

struct CallCache::SiteQuery {
  static constexpr bool kByValue = false;
  size_t Hash() const { return hash; }
  bool Asks(const SiteKey& key) const {
    return key.op == op && absl::MakeConstSpan(key.dtypes) == dtypes && key.attrs == attrs;
  }
  SiteKey MakeKey() const { return {std::string(op), {dtypes.begin(), dtypes.end()}, attrs}; }

  size_t hash;
  absl::string_view op;
  absl::Span<const DType> dtypes;
  const AttrMap& attrs;
};

struct CallSite::KernelQuery {
  static constexpr bool kByValue = true;

  size_t Hash() const {
    size_t hash = absl::HashOf(inputs.size(), threads);
    for (const Tensor& t : inputs) hash = absl::HashOf(hash, t.shape());
    return hash;
  }
  bool Asks(const KernelKey& key) const {
    return key.threads == threads &&
           std::equal(key.shapes.begin(), key.shapes.end(), inputs.begin(), inputs.end(),
                      [](const Shape& s, const Tensor& t) { return s == t.shape(); });
  }
  Fit FitOf(const EagerKernel& kernel) const {
    if (!std::equal(kernel.constants.begin(), kernel.constants.end(), constants.begin(),
                    constants.end())) {
      // Kernels made from a constant that has been replaced must go: they hold the old value.
      return kernel.constants.empty() ? Fit::kNo : Fit::kStale;
    }
    const bool same = std::all_of(
        kernel.values.begin(), kernel.values.end(), [&](const std::pair<int, Tensor>& v) {
          return Identical(inputs[static_cast<size_t>(v.first)], v.second);
        });
    return same ? Fit::kYes : Fit::kNo;
  }
  KernelKey MakeKey() const {
    KernelKey key;
    for (const Tensor& t : inputs) key.shapes.push_back(t.shape());
    key.threads = threads;
    return key;
  }

  absl::Span<const Tensor> inputs;
  absl::Span<const std::shared_ptr<Constant>> constants;
  int threads;
};

CallCache::CallCache(const Flags& flags, const Services& services)
    : rename_(flags.onednn_opts),
      threads_(services.threads),
      services_(ForThreads(services, std::max(services.threads, AvailableCpus()))),
      kernels_(std::make_shared<CacheBudget>(
          CacheLimits{.entries = flags.cache_entries, .bytes = flags.cache_bytes})),
      sites_([&]<size_t... I>(std::index_sequence<I...>) {
        const auto budget = std::make_shared<CacheBudget>(
            CacheLimits{.entries = flags.cache_entries, .bytes = flags.cache_bytes});
        const auto shard = [&](size_t) { return Sites(budget); };
        return std::array<Sites, kShards>{shard(I)...};
      }(std::make_index_sequence<kShards>())),
      sequences_({.entries = kSequences, .bytes = int64_t{1} << 20}) {}

absl::StatusOr<std::shared_ptr<const CallSite>> CallCache::Site(absl::string_view op,
                                                                absl::Span<const DType> dtypes,
                                                                const AttrMap& attrs) {
  const size_t hash = HashAttrs(absl::HashOf(op, dtypes), attrs);
  return sites_[hash % sites_.size()].GetOrBuild(SiteQuery{hash, op, dtypes, attrs},
                                                 [&] { return MakeSite(hash, op, dtypes, attrs); });
}

absl::StatusOr<std::shared_ptr<const CallSite>> CallCache::MakeSite(size_t hash,
                                                                    absl::string_view op,
                                                                    absl::Span<const DType> dtypes,
                                                                    const AttrMap& attrs) {
  const OpLookup found = FindOp(op);
  if (!found || found.native || found.info->row.internal) {
    return NotFound("there is no op '", op, "'");
  }
  auto site = std::make_shared<CallSite>(kernels_);
  Node& node = site->node_;
  node.name = std::string(op);
  node.op = node.name;
  node.attrs = attrs;
  FillFromInputs(*found.info, dtypes, node.attrs);
  TENON_RETURN_IF_ERROR(CompleteSite(*found.info, *site));
  if (const auto attached = node.attrs.find(RandomSequence::kAttr); attached != node.attrs.end()) {
    const Tensor* started = attached->second.get_if<Tensor>();
    TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Tensor> kept,
                           sequences_.GetOrBuild(SiteQuery{hash, op, dtypes, attrs}, [&] {
                             return std::make_shared<const Tensor>(*started);
                           }));
    attached->second = *kept;
  }
  if (rename_ && found.info->row.eager) {
    if (const char* native = NativeName(*found.info, node)) node.op = native;
  }
  return site;
}

absl::StatusOr<std::shared_ptr<const CallSite>> CallCache::NodeSite(const Node& node,
                                                                    const SmallCalls& small) const {
  const OpLookup found = FindOp(node.op);
  if (!found) return NotFound("there is no op '", node.op, "'");
  auto site = std::make_shared<CallSite>(kernels_);
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
  TENON_RETURN_IF_ERROR(RandomSequence::Attach(site.node_));
  TENON_RETURN_IF_ERROR(shared_->Attach(site.node_));
  TENON_ASSIGN_OR_RETURN(site.output_dtypes_, OutputDTypes(op, site.node_));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const EagerKernel>> CallCache::Kernel(
    const CallSite& site, absl::Span<const Tensor> inputs,
    absl::Span<const std::shared_ptr<Constant>> constants, int threads) {
  threads = std::min(threads > 0 ? threads : threads_, static_cast<int>(services_.size()));
  return site.kernels_.GetOrBuild(CallSite::KernelQuery{inputs, constants, threads},
                                  [&] { return Prepare(site, inputs, constants, threads); });
}

absl::StatusOr<std::shared_ptr<const EagerKernel>> CallCache::Prepare(
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
  const auto prepare = [&](int use) -> absl::StatusOr<PreparedKernel> {
    TENON_RETURN_IF_ERROR(CheckHelperThreads(use));
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

  auto kernel = std::make_shared<EagerKernel>();
  kernel->constants.assign(constants.begin(), constants.end());
  for (int i : used) {
    // A copy: the caller may overwrite the value.
    TENON_ASSIGN_OR_RETURN(Tensor value, inputs[static_cast<size_t>(i)].Clone());
    kernel->values.emplace_back(i, std::move(value));
  }
  kernel->prepared = std::move(prepared);
  kernel->threads = small ? 1 : threads;
  kernel->by_shapes = kernels_->limits().keep_any() && kernel->values.empty();
  return kernel;
}

}  // namespace tenon
