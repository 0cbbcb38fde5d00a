// The arena: one block of memory for a plan's intermediate tensors, with offsets fixed at planning
// time, so that tensors with disjoint lifetimes share bytes. A small block that stays in the CPU's
// caches is worth more than most kernel choices.
#ifndef TENON_RUNTIME_MEMORY_ARENA_H_
#define TENON_RUNTIME_MEMORY_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/memory_account.h"

namespace tenon {

inline constexpr size_t kArenaAlignment = 64;
inline constexpr size_t kMostArenaBytes = size_t{1} << 46;

// Live from step `first` (which writes it) to step `last` (the last to read it), inclusive.
struct ArenaItem {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaLayout {
  std::vector<size_t> offsets;  // one per item, multiples of kArenaAlignment
  size_t bytes = 0;             // of the whole block
};

// Places the largest item first, each in the tightest gap between items that are live at the same
// time. Items of no bytes get offset 0. ResourceExhausted if the total is too large.
absl::StatusOr<ArenaLayout> LayOutArena(absl::Span<const ArenaItem> items);

// The memory block, aligned to at least kArenaAlignment. ResourceExhausted if there is no memory,
// or too much for the account in scope.
class ArenaBlock {
 public:
  ArenaBlock() = default;
  static absl::StatusOr<ArenaBlock> Allocate(size_t bytes);
  // The size of the block that Allocate returns for `bytes` (at most kMostArenaBytes).
  static size_t SizeFor(size_t bytes);
  char* data() const { return data_.get(); }
  size_t bytes() const { return data_ == nullptr ? 0 : data_.get_deleter().bytes; }

 private:
  struct Free {
    size_t bytes;
    void operator()(char* p) const;
  };
  ArenaBlock(char* data, size_t bytes, std::unique_ptr<MemoryCharge> charge)
      : charge_(std::move(charge)), data_(data, Free{bytes}) {}
  std::unique_ptr<MemoryCharge> charge_;  // null: nothing was charged
  std::unique_ptr<char, Free> data_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_MEMORY_ARENA_H_
