// Where the intermediate tensors of a plan live: one block of memory, offsets fixed ahead, so that
// tensors which are never alive together share bytes. A small block that stays in the CPU's caches
// is worth more than most kernel choices.
#ifndef TENON_RUNTIME_MEMORY_ARENA_H_
#define TENON_RUNTIME_MEMORY_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {

inline constexpr size_t kArenaAlignment = 64;
inline constexpr size_t kMostArenaBytes = size_t{1} << 46;

// Alive from step `first` (which writes it) to step `last` (the last to read it), both included.
struct ArenaItem {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaLayout {
  std::vector<size_t> offsets;  // one per item, multiples of kArenaAlignment
  size_t bytes = 0;             // of the whole block
};

// Largest first, each at the tightest gap among those alive at the same time. Items of no bytes
// get offset 0. ResourceExhausted where the total is beyond what can be had.
absl::StatusOr<ArenaLayout> LayOutArena(absl::Span<const ArenaItem> items);

// The block itself, aligned to kArenaAlignment or better. ResourceExhausted where there is none.
class ArenaBlock {
 public:
  ArenaBlock() = default;
  static absl::StatusOr<ArenaBlock> Allocate(size_t bytes);
  // How large a block Allocate gives for that (at most kMostArenaBytes).
  static size_t SizeFor(size_t bytes);
  char* data() const { return data_.get(); }
  size_t bytes() const { return data_ == nullptr ? 0 : data_.get_deleter().bytes; }

 private:
  struct Free {
    size_t bytes;
    void operator()(char* p) const;
  };
  ArenaBlock(char* data, size_t bytes) : data_(data, Free{bytes}) {}
  std::unique_ptr<char, Free> data_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_MEMORY_ARENA_H_
