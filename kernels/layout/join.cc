#include "kernels/layout/join.h"

#include "kernels/layout/visit_elements.h"

namespace tenon {
namespace {

// part: `outer` dense rows of `chunk` elements; whole: the same rows, `width` apart.
enum class Direction { kToWhole, kFromWhole };

template <Direction direction>
void CopyRows(DType dtype, int64_t outer, int64_t chunk, int64_t width, int64_t offset,
              std::conditional_t<direction == Direction::kToWhole, const void*, void*> part,
              std::conditional_t<direction == Direction::kToWhole, void*, const void*> whole) {
  VisitElements(dtype, [&]<typename T>() {
    using P = std::conditional_t<direction == Direction::kToWhole, const T, T>;
    using W = std::conditional_t<direction == Direction::kToWhole, T, const T>;
    P* p = static_cast<P*>(part);
    W* w = static_cast<W*>(whole) + offset;
    for (int64_t r = 0; r < outer; ++r, p += chunk, w += width) {
      if constexpr (direction == Direction::kToWhole) {
        std::copy_n(p, chunk, w);
      } else {
        std::copy_n(w, chunk, p);
      }
    }
  });
}

int64_t Width(const Join& join) {
  int64_t width = 0;
  for (int64_t c : join.chunks) width += c;
  return width;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> JoinKernel(Join join, int first_input) {
  const int64_t width = Width(join);
  return MakeKernel([join = std::move(join), width, first_input](RunContext& run) {
    int64_t offset = 0;
    for (size_t i = 0; i < join.chunks.size(); ++i) {
      const int64_t chunk = join.chunks[i];
      if (chunk > 0) {
        CopyRows<Direction::kToWhole>(join.dtype, join.outer, chunk, width, offset,
                                      run.input(first_input + static_cast<int>(i)), run.output(0));
      }
      offset += chunk;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitKernel(Join join, int input) {
  const int64_t width = Width(join);
  return MakeKernel([join = std::move(join), width, input](RunContext& run) {
    int64_t offset = 0;
    for (size_t i = 0; i < join.chunks.size(); ++i) {
      const int64_t chunk = join.chunks[i];
      if (chunk > 0) {
        CopyRows<Direction::kFromWhole>(join.dtype, join.outer, chunk, width, offset,
                                        run.output(static_cast<int>(i)), run.input(input));
      }
      offset += chunk;
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
