#include "runtime/memory/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "env/round_up.h"
#include "env/status.h"
#include "runtime/memory/placed_items.h"

namespace tenon {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

// Among so many items, looking at all of them is fastest.
constexpr size_t kFewItems = 4096;
// Among more, an item that is live beside more others than this gets a place on top of them all,
// without a search for a gap.
constexpr size_t kMostLive = 1024;

// Steps as numbers from 0, without those at which no lifetime begins or ends.
class Steps {
 public:
  explicit Steps(absl::Span<const ArenaItem> items) {
    for (const ArenaItem& item : items) {
      steps_.push_back(item.first);
      steps_.push_back(item.last);
    }
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
  }
  size_t size() const { return steps_.size(); }
  size_t IndexOf(int step) const {
    return static_cast<size_t>(std::lower_bound(steps_.begin(), steps_.end(), step) -
                               steps_.begin());
  }

 private:
  std::vector<int> steps_;
};

}  // namespace

absl::StatusOr<ArenaLayout> LayOutArena(absl::Span<const ArenaItem> items) {
  ArenaLayout layout;
  layout.offsets.assign(items.size(), 0);
  std::vector<size_t> by_size(items.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; });

  const Steps steps(items);
  const bool few = items.size() <= kFewItems;
  PlacedItems placed(few ? 0 : items.size(), few ? 0 : steps.size());
  std::vector<size_t>
      near;  // in order of offset: if few, all that are placed, else those live here
  const auto by_offset = [&](size_t a, size_t b) { return layout.offsets[a] < layout.offsets[b]; };
  for (size_t i : by_size) {
    const ArenaItem& item = items[i];
    if (item.bytes == 0) continue;
    if (item.bytes > kMostArenaBytes) {
      return absl::ResourceExhaustedError("the intermediate tensors need too much memory");
    }
    const size_t need = RoundUp(item.bytes, kArenaAlignment);
    const size_t first = steps.IndexOf(item.first), last = steps.IndexOf(item.last);
    size_t best = 0, best_gap = SIZE_MAX, end = 0;
    if (few || placed.LiveIn(first, last, kMostLive, near)) {
      if (!few) std::sort(near.begin(), near.end(), by_offset);
      for (size_t p : near) {
        const ArenaItem& other = items[p];
        if (other.last < item.first || item.last < other.first) continue;
        const size_t start = layout.offsets[p];
        if (start > end && start - end >= need && start - end < best_gap) {
          best = end;
          best_gap = start - end;
        }
        end = std::max(end, start + RoundUp(other.bytes, kArenaAlignment));
      }
    } else {
      end = placed.TopIn(first, last);
    }
    const size_t offset = best_gap == SIZE_MAX ? end : best;
    layout.offsets[i] = offset;
    layout.bytes = std::max(layout.bytes, offset + need);
    if (layout.bytes > kMostArenaBytes) {
      return absl::ResourceExhaustedError("the intermediate tensors need too much memory");
    }
    if (few) {
      near.insert(std::upper_bound(near.begin(), near.end(), i, by_offset), i);
    } else {
      placed.Add(i, first, last, offset + need);
    }
  }
  return layout;
}

size_t ArenaBlock::SizeFor(size_t bytes) {
  return RoundUp(std::max<size_t>(bytes, 1), bytes < kHugePage ? kArenaAlignment : kHugePage);
}

absl::StatusOr<ArenaBlock> ArenaBlock::Allocate(size_t bytes) {
  const absl::Status none = absl::ResourceExhaustedError(
      absl::StrCat("no memory for ", bytes, " bytes of intermediate tensors"));
  if (bytes > kMostArenaBytes) return none;
  const size_t size = SizeFor(bytes), mapped = size + kHugePage;
  std::unique_ptr<MemoryCharge> charge;
  if (MemoryCharge::AnyAccount()) {
    TENON_ASSIGN_OR_RETURN(MemoryCharge made, MemoryCharge::Of(size));
    if (!made.empty()) charge = std::make_unique<MemoryCharge>(std::move(made));
  }
  if (size < kHugePage) {
    void* p = std::aligned_alloc(kArenaAlignment, size);
    if (p == nullptr) return none;
    return ArenaBlock(static_cast<char*>(p), size, std::move(charge));
  }
  // Huge pages avoid TLB misses; the system decides whether to use them. The block is a separate
  // mapping, which is returned whole: in malloc's heap, such blocks leave holes that small blocks
  // fragment.
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return none;
  char* const begin = static_cast<char*>(p);
  const size_t before =
      RoundUp(reinterpret_cast<uintptr_t>(p), kHugePage) - reinterpret_cast<uintptr_t>(p);
  if (before > 0) munmap(begin, before);
  munmap(begin + before + size, kHugePage - before);
  madvise(begin + before, size, MADV_HUGEPAGE);
  return ArenaBlock(begin + before, size, std::move(charge));
}

void ArenaBlock::Free::operator()(char* p) const {
  if (bytes < kHugePage) {
    std::free(p);
  } else {
    munmap(p, bytes);
  }
}

}  // namespace tenon
