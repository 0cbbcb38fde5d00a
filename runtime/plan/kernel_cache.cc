#include "runtime/plan/kernel_cache.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "env/status.h"
#include "runtime/plan/attr_hash.h"

namespace tenon {
namespace {

// Values that change from call to call (a Reshape's computed shape) must not pile up.
constexpr size_t kMaxVariants = 8;

}  // namespace

KernelCache::Key KernelCache::MakeKey(const Node& node, absl::Span<const TensorSpec> inputs,
                                      absl::Span<Constant* const> constants,
                                      absl::Span<const TensorSpec> outputs) {
  Key key;
  key.op = node.op;
  key.attrs = node.attrs;
  key.specs.reserve(inputs.size() + outputs.size());
  for (const TensorSpec& s : inputs) key.specs.emplace_back(s.dtype, s.shape);
  for (const TensorSpec& s : outputs) key.specs.emplace_back(s.dtype, s.shape);
  key.constants.assign(constants.begin(), constants.end());
  key.hash = HashAttrs(absl::HashOf(key.op, key.specs, key.constants), key.attrs);
  return key;
}

const KernelCache::Variant* KernelCache::Match(const Entry& entry,
                                               absl::Span<const TensorSpec> inputs) {
  for (const Variant& variant : entry.variants) {
    const bool same = std::all_of(variant.values.begin(), variant.values.end(),
                                  [&](const std::pair<int, Tensor>& v) {
                                    const Tensor* now = inputs[static_cast<size_t>(v.first)].value;
                                    return now != nullptr && Identical(*now, v.second);
                                  });
    if (same) return &variant;
  }
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const PreparedKernel>> KernelCache::Prepare(
    const Node& node, absl::Span<const TensorSpec> inputs, absl::Span<Constant* const> constants,
    absl::Span<const TensorSpec> outputs, const Services& services) {
  Key key = MakeKey(node, inputs, constants, outputs);
  {
    MutexLock lock(&mutex_);
    if (auto it = entries_.find(key); it != entries_.end()) {
      if (const Variant* variant = Match(*it->second, inputs)) {
        ages_.splice(ages_.begin(), ages_, it->second->age);
        ++stats_.hits;
        return variant->kernel;
      }
    }
    ++stats_.misses;
  }

  TENON_ASSIGN_OR_RETURN(PreparedKernel prepared, PrepareNode(node, inputs, constants, services));
  auto kernel = std::make_shared<const PreparedKernel>(std::move(prepared));
  Variant variant;
  for (int i : kernel->value_inputs) {
    // A copy: the value may live in memory that the next call writes over.
    TENON_ASSIGN_OR_RETURN(Tensor value, inputs[static_cast<size_t>(i)].value->Clone());
    variant.values.emplace_back(i, std::move(value));
  }
  variant.kernel = kernel;

  MutexLock lock(&mutex_);
  auto [it, fresh] = entries_.try_emplace(std::move(key));
  if (fresh) {
    it->second = std::make_unique<Entry>();
    ages_.push_front(&it->first);
    it->second->age = ages_.begin();
  } else if (const Variant* first = Match(*it->second, inputs)) {
    return first->kernel;
  }
  Entry& entry = *it->second;
  if (entry.variants.size() >= kMaxVariants) {
    const int64_t gone = static_cast<int64_t>(entry.variants.front().kernel->kernel->HeldBytes());
    entry.bytes -= gone;
    bytes_ -= gone;
    entry.variants.erase(entry.variants.begin());
  }
  entry.variants.push_back(std::move(variant));
  const int64_t held = static_cast<int64_t>(kernel->kernel->HeldBytes());
  entry.bytes += held;
  bytes_ += held;
  Trim();
  return kernel;
}

void KernelCache::Trim() {
  while (!ages_.empty() &&
         (static_cast<int64_t>(entries_.size()) > max_entries_ || bytes_ > max_bytes_)) {
    auto it = entries_.find(*ages_.back());
    bytes_ -= it->second->bytes;
    ages_.pop_back();
    entries_.erase(it);
  }
}

KernelCacheStats KernelCache::stats() const {
  MutexLock lock(&mutex_);
  KernelCacheStats stats = stats_;
  stats.entries = static_cast<int64_t>(entries_.size());
  stats.bytes = bytes_;
  return stats;
}

}  // namespace tenon
