#include "runtime/memory/state_pool.h"

#include <algorithm>

#include "env/status.h"

namespace tenon {

StatePool::Shelf::Shelf(std::shared_ptr<StatePool> pool, size_t arena_bytes)
    : pool_(std::move(pool)), arena_bytes_(ArenaBlock::SizeFor(arena_bytes)) {
  MutexLock lock(&pool_->mutex_);
  ++pool_->sizes_[arena_bytes_];
}

StatePool::Shelf::~Shelf() {
  Arenas leaving;
  MutexLock lock(&pool_->mutex_);
  const auto it = pool_->sizes_.find(arena_bytes_);
  if (--it->second == 0) pool_->sizes_.erase(it);
  pool_->TrimInto(leaving);
}

void StatePool::TrimInto(Arenas& leaving) {
  while (!arenas_.empty() && arenas_.back().bytes() > Largest()) {
    leaving.push_back(std::move(arenas_.back()));
    arenas_.pop_back();
  }
}

absl::StatusOr<std::unique_ptr<ExecState>> StatePool::Shelf::Take() {
  std::unique_ptr<ExecState> state;
  ArenaBlock arena, leaving;
  {
    StatePool& pool = *pool_;
    MutexLock lock(&pool.mutex_);
    if (!free_.empty()) {
      state = std::move(free_.back());
      free_.pop_back();
    }
    // Takes the smallest one that is large enough. If there is none, the largest is freed to make
    // room for a new one, so there are never more arenas than concurrent runs.
    auto it = std::find_if(pool.arenas_.begin(), pool.arenas_.end(),
                           [&](const ArenaBlock& a) { return a.bytes() >= arena_bytes_; });
    if (it != pool.arenas_.end()) {
      arena = std::move(*it);
      if (std::next(it) == pool.arenas_.end()) {
        pool.arenas_.pop_back();
      } else {
        pool.arenas_.erase(it);
      }
    } else if (!pool.arenas_.empty()) {
      leaving = std::move(pool.arenas_.back());
      pool.arenas_.pop_back();
    }
  }
  if (state == nullptr) state = std::make_unique<ExecState>();
  if (arena.data() == nullptr) {
    leaving = ArenaBlock();
    absl::StatusOr<ArenaBlock> made = ArenaBlock::Allocate(arena_bytes_);
    if (!made.ok() && pool_->FreeArenas()) made = ArenaBlock::Allocate(arena_bytes_);
    if (!made.ok()) return made.status();
    arena = *std::move(made);
  }
  state->arena = std::move(arena);
  return state;
}

void StatePool::Shelf::Give(std::unique_ptr<ExecState> state) {
  Arenas leaving;
  StatePool& pool = *pool_;
  MutexLock lock(&pool.mutex_);
  const size_t bytes = state->arena.bytes();
  if (pool.arenas_.empty()) {
    pool.arenas_.push_back(std::move(state->arena));
    if (bytes > arena_bytes_) pool.TrimInto(leaving);  // else this shelf needs it
  } else if (pool.arenas_.size() < kKept) {
    const auto at =
        std::upper_bound(pool.arenas_.begin(), pool.arenas_.end(), bytes,
                         [](size_t b, const ArenaBlock& other) { return b < other.bytes(); });
    pool.arenas_.insert(at, std::move(state->arena));
    pool.TrimInto(leaving);
  } else {
    leaving.push_back(std::move(state->arena));
  }
  if (free_.size() < kKept) free_.push_back(std::move(state));
}

bool StatePool::FreeArenas() {
  Arenas leaving;
  MutexLock lock(&mutex_);
  leaving.swap(arenas_);
  return !leaving.empty();
}

size_t StatePool::Shelf::size() const {
  MutexLock lock(&pool_->mutex_);
  return free_.size();
}

size_t StatePool::arena_bytes() const {
  MutexLock lock(&mutex_);
  size_t bytes = 0;
  for (const ArenaBlock& arena : arenas_) bytes += arena.bytes();
  return bytes;
}

size_t StatePool::arenas() const {
  MutexLock lock(&mutex_);
  return arenas_.size();
}

}  // namespace tenon
