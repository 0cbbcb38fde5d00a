// A cache bounded by number and bytes, with keys of one type. A value is built once, outside the
// lock: callers that ask for it meanwhile wait for that one build. A failed build is told to those
// who waited and is not kept; a build that throws leaves the cache as it was, and they get an
// error. What was used longest ago leaves first. A limit of 0 keeps nothing: every call builds, and
// what it built serves that caller alone. Results never depend on the cache, because whoever holds
// a value keeps it alive after it has left.
//
//   struct ByName {                                  // a query: what a caller looks for
//     static constexpr bool kByValue = false;
//     size_t Hash() const { return absl::HashOf(name); }
//     bool Asks(const std::string& key) const { return key == name; }
//     std::string MakeKey() const { return std::string(name); }  // only where a value is built
//     absl::string_view name;
//   };
//   BoundedCache<std::string, Table> tables({.entries = 64, .bytes = 1 << 20});
//   auto table = tables.GetOrBuild(ByName{"a"}, [&] { return BuildTable("a"); });
//
// A query with kByValue says more than its key: `Fit FitOf(const Value&)` tells whether a value
// with that key serves it (a kernel that was prepared from other numbers does not). Such values
// stand side by side under one key, kMaxVariants of them; a caller that waited for a build which
// failed, or does not serve it, builds its own.
#ifndef TENON_ENV_BOUNDED_CACHE_H_
#define TENON_ENV_BOUNDED_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "env/exceptions.h"
#include "env/mutex.h"

namespace tenon {

struct CacheLimits {
  int64_t entries = 0;  // 0: nothing is kept
  int64_t bytes = 0;    // likewise
  // One value stays, however many bytes it holds. Else what alone is larger than `bytes` is not
  // kept.
  bool keep_one = false;

  bool keep_any() const { return entries > 0 && bytes > 0; }
};

struct CacheStats {
  int64_t hits = 0;  // found, or waited for another caller's build
  int64_t misses = 0;
  int64_t failures = 0;
  int64_t evictions = 0;
  int64_t entries = 0;
  int64_t bytes = 0;

  CacheStats& operator+=(const CacheStats& other);
};

// The limits that one or more caches share: each has a lock of its own, and the value that leaves
// is the oldest of all.
class CacheBudget {
 public:
  explicit CacheBudget(const CacheLimits& limits) : limits_(limits) {}
  CacheBudget(const CacheBudget&) = delete;
  CacheBudget& operator=(const CacheBudget&) = delete;

  const CacheLimits& limits() const { return limits_; }
  // Of all caches together, those that are gone included.
  CacheStats stats() const ABSL_LOCKS_EXCLUDED(mutex_);
  int64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }

  // What the budget asks of a cache; only for BoundedCache.
  class Member {
   public:
    virtual ~Member() = default;
    static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
    // When the value that would leave next was used; kNever: none can leave.
    virtual uint64_t OldestUse() const = 0;
    // Null where none can leave.
    virtual std::shared_ptr<const void> EvictOldest() = 0;
    virtual CacheStats stats() const = 0;
  };
  void Join(Member* member) ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave(Member* member) ABSL_LOCKS_EXCLUDED(mutex_);
  void Add(int64_t entries, int64_t bytes) {
    entries_.fetch_add(entries, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // Evicts until the limits hold.
  void Trim() ABSL_LOCKS_EXCLUDED(mutex_);
  // Time, counted in misses: ages only matter when something is added.
  uint64_t now() const { return clock_.load(std::memory_order_relaxed); }
  void Tick() { clock_.fetch_add(1, std::memory_order_relaxed); }

 private:
  bool Over() const;

  const CacheLimits limits_;
  std::atomic<int64_t> entries_ = 0;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> evictions_ = 0;
  std::atomic<uint64_t> clock_ = 0;
  mutable Mutex mutex_;  // taken before a member's
  HashSet<Member*> members_ ABSL_GUARDED_BY(mutex_);
  CacheStats departed_ ABSL_GUARDED_BY(mutex_);
};

// Counts what each value holds by itself: `bytes()`.
template <typename Value>
struct BytesOfEach {
  int64_t Add(const Value& value) { return static_cast<int64_t>(value.bytes()); }
  int64_t Remove(const Value&, int64_t added) { return added; }
};

enum class Fit {
  kYes,
  kNo,     // serves others
  kStale,  // serves nobody any more: leaves when this query's value comes
};

// `Weigher` says how many bytes a value adds when it comes, and takes away when it leaves; called
// under the lock.
template <typename Key, typename Value, typename Weigher = BytesOfEach<Value>>
class BoundedCache final : private CacheBudget::Member {
 public:
  using Pointer = std::shared_ptr<const Value>;
  // Values that change from call to call (a computed axis) must not pile up.
  static constexpr int kMaxVariants = 8;

  explicit BoundedCache(const CacheLimits& limits)
      : BoundedCache(std::make_shared<CacheBudget>(limits)) {}
  explicit BoundedCache(std::shared_ptr<CacheBudget> budget) : budget_(std::move(budget)) {
    budget_->Join(this);
  }
  ~BoundedCache() override { budget_->Leave(this); }
  BoundedCache(const BoundedCache&) = delete;
  BoundedCache& operator=(const BoundedCache&) = delete;

  // `build` gives absl::StatusOr<std::shared_ptr<const Value>>.
  template <typename Query, typename Build>
  absl::StatusOr<Pointer> GetOrBuild(const Query& query, Build&& build)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    std::shared_ptr<Entry> entry;  // null: what is built is not kept
    {
      MutexLock lock(&mutex_);
      if (budget_->limits().keep_any()) {
        // Mostly it is the value that was used last.
        if (newest_ != nullptr && newest_->ready && Serves(*newest_, query)) {
          ++stats_.hits;
          newest_->used = budget_->now();
          return newest_->value;
        }
        const size_t hash = query.Hash();
        while (Entry* const found = Find(hash, query)) {
          ++stats_.hits;
          Touch(*found);
          if (found->ready) return found->value;
          const std::shared_ptr<Entry> awaited = found->shared_from_this();
          mutex_.Await([&] { return awaited->ready; });
          if (awaited->status.ok() && Serves(*awaited, query)) return awaited->value;
          if (!awaited->status.ok() && !Query::kByValue) return awaited->status;
          --stats_.hits;
        }
        entry = std::make_shared<Entry>(query.MakeKey(), hash);
        Insert(entry);
      }
      ++stats_.misses;
    }

    // Whoever waits gets an error if what follows throws, and the entry leaves.
    absl::Cleanup abandon = [&] {
      MutexLock lock(&mutex_);
      ++stats_.failures;
      if (entry != nullptr) Fail(*entry, OutOfMemory());
    };
    absl::StatusOr<Pointer> made = build();

    Entries gone;
    gone.reserve(kMaxVariants + 1);
    {
      MutexLock lock(&mutex_);
      if (made.ok() && entry != nullptr) entry->bytes = weigher_.Add(**made);
      std::move(abandon).Cancel();
      if (!made.ok()) ++stats_.failures;
      if (entry == nullptr) return made;
      if (!made.ok()) {
        Fail(*entry, made.status());
        return made;
      }
      entry->ready = true;
      entry->value = *made;
      if constexpr (Query::kByValue) DropVariants(*entry, query, gone);
      stats_.bytes += entry->bytes;
      budget_->Add(0, entry->bytes);
      const CacheLimits& limits = budget_->limits();
      if (entry->bytes > limits.bytes && !limits.keep_one) gone.push_back(Remove(*entry));
    }
    gone.clear();
    budget_->Trim();
    return made;
  }

  // What GetOrBuild would find without building or waiting; null: nothing, and no miss is counted.
  template <typename Query>
  Pointer GetIfReady(const Query& query) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    Entry* const found = Find(query.Hash(), query);
    if (found == nullptr || !found->ready) return nullptr;
    ++stats_.hits;
    Touch(*found);
    return found->value;
  }

  // Under the lock: `visit` takes a const Value&.
  template <typename Visit>
  void ForEach(Visit&& visit) const ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    for (const Entry* e = newest_; e != nullptr; e = e->older) {
      if (e->ready) visit(*e->value);
    }
  }

  // Statistics stay, and values under construction.
  void Clear() ABSL_LOCKS_EXCLUDED(mutex_) {
    Entries gone;
    MutexLock lock(&mutex_);
    for (Entry* e = newest_; e != nullptr;) {
      Entry* const next = e->older;
      if (e->ready) gone.push_back(Remove(*e));
      e = next;
    }
  }

  CacheStats stats() const override ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    return stats_;
  }

 private:
  struct Entry : std::enable_shared_from_this<Entry> {
    Entry(Key k, size_t h) : key(std::move(k)), hash(h) {}
    const Key key;
    const size_t hash;
    bool ready = false;
    absl::Status status;
    Pointer value;
    int64_t bytes = 0;
    uint64_t used = 0;
    Entry* newer = nullptr;
    Entry* older = nullptr;
    std::shared_ptr<Entry> next;  // of the same hash, built earlier
  };
  using Entries = std::vector<std::shared_ptr<const void>>;

  template <typename Query>
  static Fit FitOf(const Entry& entry, const Query& query) {
    if constexpr (Query::kByValue) return query.FitOf(*entry.value);
    return Fit::kYes;
  }
  template <typename Query>
  static bool Serves(const Entry& entry, const Query& query) {
    return query.Asks(entry.key) && FitOf(entry, query) == Fit::kYes;
  }

  // A value that serves the query, else one under construction that may. Null: neither.
  template <typename Query>
  Entry* Find(size_t hash, const Query& query) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = chains_.find(hash);
    if (it == chains_.end()) return nullptr;
    Entry* awaited = nullptr;
    for (Entry* e = it->second.get(); e != nullptr; e = e->next.get()) {
      if (!e->ready) {
        if (query.Asks(e->key)) awaited = e;
      } else if (Serves(*e, query)) {
        return e;
      }
    }
    return awaited;
  }

  // Other values of this key that are stale, or too many.
  template <typename Query>
  void DropVariants(const Entry& entry, const Query& query, Entries& gone)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    int variants = 1;
    for (Entry* e = chains_.find(entry.hash)->second.get(); e != nullptr;) {
      Entry* const next = e->next.get();
      if (e != &entry && e->ready && query.Asks(e->key)) {
        const bool stale = FitOf(*e, query) == Fit::kStale;
        if (stale || ++variants > kMaxVariants) gone.push_back(Remove(*e));
      }
      e = next;
    }
  }

  void Link(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    entry.used = budget_->now();
    entry.newer = nullptr;
    entry.older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = &entry;
    newest_ = &entry;
  }
  void Unlink(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    (entry.newer != nullptr ? entry.newer->older : newest_) = entry.older;
    (entry.older != nullptr ? entry.older->newer : oldest_) = entry.newer;
  }
  void Touch(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (&entry == newest_) {
      entry.used = budget_->now();
      return;
    }
    Unlink(entry);
    Link(entry);
  }
  void Insert(const std::shared_ptr<Entry>& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::shared_ptr<Entry>& chain = chains_[entry->hash];  // may throw
    budget_->Tick();
    budget_->Add(1, 0);
    ++stats_.entries;
    Link(*entry);
    entry->next = std::move(chain);
    chain = entry;
  }
  // Ends the construction of a value that does not come.
  void Fail(Entry& entry, const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    entry.status = status;
    entry.ready = true;
    Remove(entry);
  }
  // For the caller to destroy without the lock.
  std::shared_ptr<Entry> Remove(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Unlink(entry);
    const auto it = chains_.find(entry.hash);
    std::shared_ptr<Entry>* at = &it->second;
    while (at->get() != &entry) at = &(*at)->next;
    std::shared_ptr<Entry> removed = std::move(*at);
    *at = std::move(removed->next);
    if (it->second == nullptr) chains_.erase(it);
    const int64_t bytes =
        removed->value == nullptr ? 0 : weigher_.Remove(*removed->value, removed->bytes);
    --stats_.entries;
    stats_.bytes -= bytes;
    budget_->Add(-1, -bytes);
    return removed;
  }

  uint64_t OldestUse() const override ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    const Entry* const entry = OldestReady();
    return entry == nullptr ? kNever : entry->used;
  }
  std::shared_ptr<const void> EvictOldest() override ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    Entry* const entry = OldestReady();
    if (entry == nullptr) return nullptr;
    ++stats_.evictions;
    return Remove(*entry);
  }
  // Values under construction stay: somebody waits for them.
  Entry* OldestReady() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Entry* entry = oldest_;
    while (entry != nullptr && !entry->ready) entry = entry->newer;
    return entry;
  }

  const std::shared_ptr<CacheBudget> budget_;
  mutable Mutex mutex_;
  HashMap<size_t, std::shared_ptr<Entry>> chains_ ABSL_GUARDED_BY(mutex_);  // by hash
  Entry* newest_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Entry* oldest_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Weigher weigher_ ABSL_GUARDED_BY(mutex_);
  CacheStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_ENV_BOUNDED_CACHE_H_
