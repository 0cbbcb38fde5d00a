#include "env/bounded_cache.h"

namespace tenon {

CacheStats& CacheStats::operator+=(const CacheStats& other) {
  hits += other.hits;
  misses += other.misses;
  failures += other.failures;
  evictions += other.evictions;
  entries += other.entries;
  bytes += other.bytes;
  return *this;
}

CacheStats CacheBudget::stats() const {
  MutexLock lock(&mutex_);
  CacheStats stats = departed_;
  for (const Member* member : members_) stats += member->stats();
  return stats;
}

void CacheBudget::Join(Member* member) {
  MutexLock lock(&mutex_);
  members_.insert(member);
}

void CacheBudget::Leave(Member* member) {
  MutexLock lock(&mutex_);
  members_.erase(member);
  CacheStats stats = member->stats();
  Add(-stats.entries, -stats.bytes);
  stats.entries = 0;
  stats.bytes = 0;
  departed_ += stats;
}

bool CacheBudget::Over() const {
  const int64_t entries = entries_.load(std::memory_order_relaxed);
  if (limits_.keep_one && entries <= 1) return false;
  return entries > limits_.entries || bytes_.load(std::memory_order_relaxed) > limits_.bytes;
}

void CacheBudget::Trim() {
  if (!Over()) return;
  std::vector<std::shared_ptr<const void>> gone;  // destroyed without the lock
  MutexLock lock(&mutex_);
  while (Over()) {
    Member* oldest = nullptr;
    uint64_t used = Member::kNever;
    for (Member* member : members_) {
      const uint64_t use = member->OldestUse();
      if (use >= used) continue;
      used = use;
      oldest = member;
    }
    if (oldest == nullptr) return;  // all are under construction
    if (auto value = oldest->EvictOldest(); value != nullptr) {
      evictions_.fetch_add(1, std::memory_order_relaxed);
      gone.push_back(std::move(value));
    }
  }
}

}  // namespace tenon
