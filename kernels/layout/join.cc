#include "kernels/layout/join.h"

#include <algorithm>
#include <numeric>

#include "kernels/interface/parallel.h"
#include "kernels/layout/visit_elements.h"

namespace tenon {
namespace {

// part: `outer` dense rows of `chunk` elements; whole: the same rows, `width` apart.
enum class Direction { kToWhole, kFromWhole };

template <typename T>
void CopyRows(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t chunk,
              int64_t rows) {
  if (chunk == 1) {
    for (int64_t r = 0; r < rows; ++r) to[r * to_step] = from[r * from_step];
    return;
  }
  for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * from_step, chunk, to + r * to_step);
}

// Rows are shared among threads, a single row's elements part by part. Each thread copies as many
// rows of all parts at a time as its cache holds.
template <Direction direction, typename T>
void CopyParts(RunContext& run, const Join& join, int64_t width, int first, int threads) {
  constexpr int64_t kBlockBytes = 16384;
  constexpr double kNsPerByte = 0.1, kNsPerPiece = 2;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  if (join.outer == 0 || width == 0) return;  // then the other one may be too large to count bytes
  // Elements [offset, offset + count) of rows [row, row + rows) of part i, which begins at `start`.
  const auto copy = [&](size_t i, int64_t start, int64_t offset, int64_t count, int64_t row,
                        int64_t rows) {
    const int64_t chunk = join.chunks[i], in_part = row * chunk + offset;
    const int64_t in_whole = row * width + start + offset;
    const int part = static_cast<int>(i);
    if constexpr (direction == Direction::kToWhole) {
      CopyRows(run.input<T>(first + part) + in_part, chunk, run.output<T>(0) + in_whole, width,
               count, rows);
    } else {
      CopyRows(run.input<T>(first) + in_whole, width, run.output<T>(part) + in_part, chunk, count,
               rows);
    }
  };
  const auto for_each_part = [&](const auto& visit) {
    int64_t start = 0;
    for (size_t i = 0; i < join.chunks.size(); start += join.chunks[i++]) {
      if (join.chunks[i] > 0) visit(i, start);
    }
  };
  if (join.outer == 1) {
    for_each_part([&](size_t i, int64_t start) {
      ParallelFor(threads, join.chunks[i], ParallelGrain(kNsPerByte * kBytes),
                  [&](int64_t begin, int64_t end) { copy(i, start, begin, end - begin, 0, 1); });
    });
    return;
  }
  const int64_t block = std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(1, width * kBytes));
  const double row_ns = kNsPerByte * static_cast<double>(width * kBytes) +
                        kNsPerPiece * static_cast<double>(join.chunks.size());
  ParallelFor(threads, join.outer, ParallelGrain(row_ns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += block) {
      for_each_part([&](size_t i, int64_t start) {
        copy(i, start, 0, join.chunks[i], row, std::min(block, end - row));
      });
    }
  });
}

template <Direction direction>
absl::StatusOr<std::unique_ptr<Kernel>> CopyKernel(Join join, int first, int threads,
                                                   const char* name) {
  const int64_t width = std::accumulate(join.chunks.begin(), join.chunks.end(), int64_t{0});
  return MakeKernel(
      [join = std::move(join), width, first, threads](RunContext& run) {
        VisitElements(join.dtype, [&]<typename T>() {
          CopyParts<direction, T>(run, join, width, first, threads);
        });
        return absl::OkStatus();
      },
      name);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> JoinKernel(Join join, int first_input, int threads,
                                                   const char* implementation) {
  return CopyKernel<Direction::kToWhole>(std::move(join), first_input, threads, implementation);
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitKernel(Join join, int input, int threads) {
  return CopyKernel<Direction::kFromWhole>(std::move(join), input, threads, "reference");
}

}  // namespace tenon
