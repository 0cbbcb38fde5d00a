#include "runtime/plan/plan_cache.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

// A list's handle is a scalar; plans are made for the shape of the list's tensors.
Shape KeyShape(const Tensor& feed) {
  return feed.dtype() == DType::kVariant ? CommonItemShape(feed) : feed.shape();
}

bool Matches(absl::Span<const TensorSpec> key, absl::Span<const Tensor> feeds) {
  return std::equal(key.begin(), key.end(), feeds.begin(), feeds.end(),
                    [](const TensorSpec& a, const Tensor& b) {
                      if (b.dtype() == DType::kVariant) {
                        return a.dtype == DType::kVariant && a.shape == KeyShape(b);
                      }
                      return a.dtype == b.dtype() && a.shape == b.shape();
                    });
}

}  // namespace

PlanCache::Entries::iterator PlanCache::Find(absl::Span<const Tensor> feeds) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const std::shared_ptr<Entry>& entry) {
    return Matches(entry->key, feeds);
  });
}

absl::StatusOr<std::shared_ptr<const Plan>> PlanCache::Get(absl::Span<const Tensor> feeds,
                                                           const Build& build) {
  std::shared_ptr<Entry> entry;
  {
    MutexLock lock(&mutex_);
    if (auto it = Find(feeds); it != entries_.end()) {
      entry = *it;
      if (it != entries_.begin()) entries_.splice(entries_.begin(), entries_, it);
      ++stats_.hits;
      mutex_.Await([&] { return entry->ready; });
      if (!entry->status.ok()) return entry->status;
      return entry->plan;
    }
    ++stats_.misses;
    entry = std::make_shared<Entry>();
    for (const Tensor& t : feeds) entry->key.push_back({t.dtype(), KeyShape(t), nullptr});
    entries_.push_front(entry);
  }

  absl::StatusOr<std::shared_ptr<const Plan>> plan = build();

  MutexLock lock(&mutex_);
  entry->ready = true;
  if (plan.ok()) {
    entry->plan = *plan;
  } else {
    entry->status = plan.status();
    entries_.remove(entry);
  }
  Trim();
  return plan;
}

// What was used last stays, for as long as there is room. Plans under construction are waited for.
void PlanCache::Trim() {
  absl::flat_hash_set<const PreparedKernel*> kernels;
  int64_t count = 0, bytes = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    const std::shared_ptr<Entry>& entry = *it;
    ++count;
    if (!entry->ready) {
      ++it;
      continue;
    }
    const Plan& plan = entry->plan->split == nullptr ? *entry->plan : *entry->plan->split->part;
    bytes += static_cast<int64_t>(plan.HeldBytes());
    for (const std::shared_ptr<const PreparedKernel>& kernel : plan.kernels) {
      if (kernel == nullptr || !kernels.insert(kernel.get()).second) continue;
      bytes += static_cast<int64_t>(kernel->kernel->HeldBytes());
    }
    const bool stays = it == entries_.begin() ||
                       (count <= max_entries_ && (max_bytes_ <= 0 || bytes <= max_bytes_));
    it = stays ? std::next(it) : entries_.erase(it);
  }
}

PlanCache::Stats PlanCache::stats() const {
  MutexLock lock(&mutex_);
  Stats stats = stats_;
  stats.entries = static_cast<int64_t>(entries_.size());
  return stats;
}

int64_t PlanCache::bytes() const {
  MutexLock lock(&mutex_);
  int64_t bytes = 0;
  for (const std::shared_ptr<Entry>& entry : entries_) {
    if (entry->plan != nullptr) bytes += static_cast<int64_t>(entry->plan->HeldBytes());
  }
  return bytes;
}

}  // namespace tenon
