#include "primitive_cache/cache.h"

#include <future>
#include <list>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "env/mutex.h"
#include "primitive_cache/isa.h"

namespace tenon {

struct PrimitiveCache::State {
  struct Entry {
    std::unique_ptr<const AnyKey> key;
    std::shared_future<absl::StatusOr<Erased>> built;
    size_t bytes = 0;
    bool ready = false;
  };
  struct HashKey {
    size_t operator()(const AnyKey* k) const { return k->Hash(); }
  };
  struct SameKey {
    bool operator()(const AnyKey* a, const AnyKey* b) const { return a->Equals(*b); }
  };
  using List = std::list<Entry>;  // most recently used first

  explicit State(const Limits& limits)
      : enabled(limits.enabled),
        max_entries(limits.entries > 0 ? limits.entries : kDefaultEntries),
        max_bytes(limits.bytes > 0 ? limits.bytes : kDefaultBytes) {}

  void Erase(List::iterator it) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    stats.bytes -= static_cast<int64_t>(it->bytes);
    --stats.entries;
    index.erase(it->key.get());
    list.erase(it);
  }

  // Entries being built are never evicted: a thread is waiting for them.
  void Shrink() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    auto it = list.end();
    while (it != list.begin() && (stats.entries > max_entries || stats.bytes > max_bytes)) {
      --it;
      if (!it->ready) continue;
      auto victim = it++;
      Erase(victim);
      ++stats.evictions;
    }
  }

  const bool enabled;
  const int64_t max_entries;
  const int64_t max_bytes;
  mutable Mutex mutex;
  List list ABSL_GUARDED_BY(mutex);
  absl::flat_hash_map<const AnyKey*, List::iterator, HashKey, SameKey> index ABSL_GUARDED_BY(mutex);
  Statistics stats ABSL_GUARDED_BY(mutex);
};

PrimitiveCache::PrimitiveCache(const Limits& limits) : state_(std::make_unique<State>(limits)) {
  LimitVectorCode();
}
PrimitiveCache::~PrimitiveCache() = default;

absl::StatusOr<PrimitiveCache::Erased> PrimitiveCache::Lookup(
    std::unique_ptr<const AnyKey> key, const std::function<absl::StatusOr<Erased>()>& make) {
  State& s = *state_;
  std::promise<absl::StatusOr<Erased>> promise;
  const AnyKey* const raw_key = key.get();
  std::shared_future<absl::StatusOr<Erased>> built;
  {
    MutexLock lock(&s.mutex);
    const auto it = s.enabled ? s.index.find(raw_key) : s.index.end();
    if (it != s.index.end()) {
      ++s.stats.hits;
      s.list.splice(s.list.begin(), s.list, it->second);
      built = it->second->built;
    } else {
      ++s.stats.misses;
      if (s.enabled) {
        s.list.push_front({std::move(key), promise.get_future().share()});
        s.index.emplace(raw_key, s.list.begin());
        ++s.stats.entries;
      }
    }
  }
  if (built.valid()) return built.get();

  absl::StatusOr<Erased> result = make();

  MutexLock lock(&s.mutex);
  if (!result.ok()) ++s.stats.failures;
  if (!s.enabled) return result;
  // Clear leaves entries that are being built, so this one is still there.
  const State::List::iterator entry = s.index.find(raw_key)->second;
  promise.set_value(result);
  if (!result.ok()) {
    s.Erase(entry);
    return result;
  }
  entry->ready = true;
  entry->bytes = result->bytes;
  s.stats.bytes += static_cast<int64_t>(result->bytes);
  s.Shrink();
  return result;
}

PrimitiveCache::Statistics PrimitiveCache::statistics() const {
  MutexLock lock(&state_->mutex);
  return state_->stats;
}

void PrimitiveCache::Clear() {
  State& s = *state_;
  MutexLock lock(&s.mutex);
  for (auto it = s.list.begin(); it != s.list.end();) {
    auto next = std::next(it);
    if (it->ready) s.Erase(it);
    it = next;
  }
}

}  // namespace tenon
