#include "runtime/memory/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "env/status.h"
#include "kernels/interface/round_up.h"

namespace tenon {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

absl::StatusOr<ArenaLayout> LayOutArena(absl::Span<const ArenaItem> items) {
  ArenaLayout layout;
  layout.offsets.assign(items.size(), 0);
  std::vector<size_t> by_size(items.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; });

  std::vector<size_t> placed;  // in order of offset
  for (size_t i : by_size) {
    const ArenaItem& item = items[i];
    if (item.bytes == 0) continue;
    if (item.bytes > kMostArenaBytes) {
      return absl::ResourceExhaustedError("the intermediate tensors need too much memory");
    }
    const size_t need = RoundUp(item.bytes, kArenaAlignment);
    size_t best = 0, best_gap = SIZE_MAX, end = 0;
    for (size_t p : placed) {
      const ArenaItem& other = items[p];
      if (other.last < item.first || item.last < other.first) continue;
      const size_t start = layout.offsets[p];
      if (start > end && start - end >= need && start - end < best_gap) {
        best = end;
        best_gap = start - end;
      }
      end = std::max(end, start + RoundUp(other.bytes, kArenaAlignment));
    }
    const size_t offset = best_gap == SIZE_MAX ? end : best;
    layout.offsets[i] = offset;
    layout.bytes = std::max(layout.bytes, offset + need);
    if (layout.bytes > kMostArenaBytes) {
      return absl::ResourceExhaustedError("the intermediate tensors need too much memory");
    }
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](size_t o, size_t p) { return o < layout.offsets[p]; }),
                  i);
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
  if (size < kHugePage) {
    void* p = std::aligned_alloc(kArenaAlignment, size);
    if (p == nullptr) return none;
    return ArenaBlock(static_cast<char*>(p), size);
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
  return ArenaBlock(begin + before, size);
}

void ArenaBlock::Free::operator()(char* p) const {
  if (bytes < kHugePage) {
    std::free(p);
  } else {
    munmap(p, bytes);
  }
}

}  // namespace tenon
