#include "runtime/plan/plan_cache.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "graph/object.h"
#include "runtime/execution/flat_plan.h"
#include "runtime/plan/branch_forms.h"

namespace tenon {

template <typename P>
struct PlanCache<P>::Query {
  static constexpr bool kByValue = false;

  size_t Hash() const {
    size_t hash = absl::HashOf(feeds.size(), threads);
    for (const Tensor& t : feeds) {
      hash = HoldsObjects(t.dtype()) ? absl::HashOf(hash, t.dtype(), FeedShape(t))
                                     : absl::HashOf(hash, t.dtype(), t.shape());
    }
    for (size_t i : by_value) hash = absl::HashOf(hash, Value(i));
    return hash;
  }
  bool Asks(const Key& key) const {
    return key.threads == threads &&
           std::equal(key.feeds.begin(), key.feeds.end(), feeds.begin(), feeds.end(),
                      [](const TensorSpec& a, const Tensor& b) {
                        if (HoldsObjects(b.dtype())) {
                          return a.dtype == b.dtype() && a.shape == FeedShape(b);
                        }
                        return a.dtype == b.dtype() && a.shape == b.shape();
                      }) &&
           std::all_of(by_value.begin(), by_value.end(),
                       [&](size_t i) { return key.feeds[i].value == Value(i); });
  }
  Key MakeKey() const {
    Key key;
    key.threads = threads;
    for (const Tensor& t : feeds) key.feeds.push_back({t.dtype(), FeedShape(t), nullptr});
    for (size_t i : by_value) key.feeds[i].value = Value(i);
    return key;
  }
  const Tensor* Value(size_t i) const { return KnownBool(feeds[i]); }

  absl::Span<const Tensor> feeds;
  absl::Span<const size_t> by_value;
  int threads;
};

template <typename P>
struct PlanCache<P>::GeneralQuery {
  static constexpr bool kByValue = false;

  size_t Hash() const {
    size_t hash = absl::HashOf(feeds.size(), threads);
    for (const TensorSpec& s : feeds) hash = absl::HashOf(hash, s.dtype, s.shape);
    return hash;
  }
  bool Asks(const Key& key) const {
    return key.threads == threads &&
           std::equal(key.feeds.begin(), key.feeds.end(), feeds.begin(), feeds.end(),
                      [](const TensorSpec& a, const TensorSpec& b) {
                        return a.dtype == b.dtype && a.shape == b.shape;
                      });
  }
  Key MakeKey() const { return {{feeds.begin(), feeds.end()}, threads}; }

  absl::Span<const TensorSpec> feeds;
  int threads;
};

template <typename P>
absl::StatusOr<std::shared_ptr<const P>> PlanCache<P>::Get(absl::Span<const Tensor> feeds,
                                                           int threads, Build build) {
  return cache_.GetOrBuild(Query{feeds, by_value_, threads}, build);
}

template <typename P>
std::shared_ptr<const P> PlanCache<P>::GetIfReady(absl::Span<const Tensor> feeds, int threads) {
  return cache_.GetIfReady(Query{feeds, by_value_, threads});
}

template <typename P>
absl::StatusOr<std::shared_ptr<const P>> PlanCache<P>::GetGeneral(
    absl::Span<const TensorSpec> feeds, int threads, Build build) {
  return cache_.GetOrBuild(GeneralQuery{feeds, threads}, build);
}

template <typename P>
int64_t PlanCache<P>::Weigher::Add(const Plan& plan) {
  // What may throw comes first, so that the tables stay as they are.
  kernels_.reserve(kernels_.size() + plan.kernels().size());
  int64_t bytes = plans_[&plan] = static_cast<int64_t>(plan.HeldBytes());
  for (const std::shared_ptr<const PreparedKernel>& kernel : plan.kernels()) {
    if (kernel == nullptr) continue;
    Count& count = kernels_[kernel.get()];
    if (++count.uses > 1) continue;
    count.bytes = static_cast<int64_t>(kernel->kernel->HeldBytes());
    bytes += count.bytes;
  }
  return bytes;
}

template <typename P>
int64_t PlanCache<P>::Weigher::Remove(const Plan& plan, int64_t) {
  const auto it = plans_.find(&plan);
  int64_t bytes = it->second;
  plans_.erase(it);
  for (const std::shared_ptr<const PreparedKernel>& kernel : plan.kernels()) {
    if (kernel == nullptr) continue;
    const auto count = kernels_.find(kernel.get());
    if (--count->second.uses > 0) continue;
    bytes += count->second.bytes;
    kernels_.erase(count);
  }
  return bytes;
}

template <typename P>
int64_t PlanCache<P>::bytes() const {
  int64_t bytes = 0;
  cache_.ForEach([&](const Plan& plan) { bytes += static_cast<int64_t>(plan.HeldBytes()); });
  return bytes;
}

template class PlanCache<Plan>;
template class PlanCache<FlatPlan>;

}  // namespace tenon
