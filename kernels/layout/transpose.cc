// After merging adjacent axes that stay together, there are two kinds: the last axis stays last,
// and rows are copied; or it does not, and the two axes that are dense in the input and in the
// output form planes, which are transposed in cache-sized blocks.
#include "kernels/layout/transpose.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/parallel.h"
#include "kernels/layout/transpose_simd.h"

namespace tenon {
namespace {

struct Axis {
  int64_t size;
  int64_t from;  // stride in the input, in elements
  int64_t to;    // stride in the output
};
using Axes = absl::InlinedVector<Axis, 6>;

// In output order.
Axes Collapse(const Shape& in, const std::vector<int64_t>& perm) {
  std::vector<int64_t> strides(static_cast<size_t>(in.rank()));
  int64_t stride = 1;
  for (int d = in.rank() - 1; d >= 0; --d) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= in.dim(d);
  }
  Axes axes;
  for (const int64_t d : perm) {
    const int64_t size = in.dim(static_cast<int>(d)), from = strides[static_cast<size_t>(d)];
    if (size == 1) continue;
    if (!axes.empty() && axes.back().from == from * size) {
      axes.back() = {axes.back().size * size, from, 0};
    } else {
      axes.push_back({size, from, 0});
    }
  }
  stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    axes[i].to = stride;
    stride *= axes[i].size;
  }
  return axes;
}

// Calls f(from, to) with the element offsets of iterations [begin, end) over `outer`.
template <typename F>
void ForEachOffset(const Axes& outer, int64_t begin, int64_t end, const F& f) {
  absl::InlinedVector<int64_t, 6> index(outer.size(), 0);
  int64_t from = 0, to = 0, rest = begin;
  for (size_t d = outer.size(); d-- > 0;) {
    index[d] = rest % outer[d].size;
    rest /= outer[d].size;
    from += index[d] * outer[d].from;
    to += index[d] * outer[d].to;
  }
  for (int64_t i = begin; i < end; ++i) {
    f(from, to);
    for (size_t d = outer.size(); d-- > 0;) {
      from += outer[d].from;
      to += outer[d].to;
      if (++index[d] < outer[d].size) break;
      from -= outer[d].size * outer[d].from;
      to -= outer[d].size * outer[d].to;
      index[d] = 0;
    }
  }
}

int64_t Count(const Axes& axes) {
  int64_t n = 1;
  for (const Axis& a : axes) n *= a.size;
  return n;
}

// For a last axis that stays last: copies rows of `bytes`.
absl::StatusOr<std::unique_ptr<Kernel>> CopyRows(Axes axes, size_t element, int threads) {
  const size_t bytes = static_cast<size_t>(axes.back().size) * element;
  axes.pop_back();
  const int64_t rows = Count(axes), grain = ParallelGrain(0.1 * static_cast<double>(bytes) + 5);
  return MakeKernel(
      [=](RunContext& context) {
        const char* x = context.input<char>(0);
        char* y = context.output<char>(0);
        const int64_t size = static_cast<int64_t>(element);
        ParallelFor(threads, rows, grain, [&](int64_t begin, int64_t end) {
          ForEachOffset(axes, begin, end, [&](int64_t from, int64_t to) {
            std::memcpy(y + to * size, x + from * size, bytes);
          });
        });
        return absl::OkStatus();
      },
      "vector:copy");
}

// Pixels of 2 to 4 channels, side by side in the input or in the output. `channel` is the axis of
// the channels, `pixel` that of the pixels.
absl::StatusOr<std::unique_ptr<Kernel>> MoveChannels(Axes outer, Axis channel, Axis pixel,
                                                     size_t element, ChannelsFn move, int threads) {
  constexpr int64_t kPixels = 4096;  // at a time
  const int64_t parts = CeilDiv(pixel.size, kPixels);
  outer.push_back({parts, kPixels * pixel.from, kPixels * pixel.to});
  const int64_t plane = std::max(channel.from, channel.to);
  const int64_t grain =
      ParallelGrain(0.1 * static_cast<double>(std::min(kPixels, pixel.size) * channel.size) *
                    static_cast<double>(element));
  return MakeKernel(
      [=](RunContext& context) {
        const char* x = context.input<char>(0);
        char* y = context.output<char>(0);
        const int64_t size = static_cast<int64_t>(element);
        ParallelFor(threads, Count(outer), grain, [&](int64_t begin, int64_t end) {
          int64_t part = begin % parts;
          ForEachOffset(outer, begin, end, [&](int64_t from, int64_t to) {
            move(x + from * size, static_cast<size_t>(channel.size), static_cast<size_t>(plane),
                 static_cast<size_t>(std::min(kPixels, pixel.size - part * kPixels)),
                 y + to * size);
            if (++part == parts) part = 0;
          });
        });
        return absl::OkStatus();
      },
      "vector:channels");
}

constexpr int64_t kBlock = 16;

template <typename T>
void TransposePlane(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                    int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

// `row` is dense in the output, `column` is dense in the input.
template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> TransposePlanes(Axes axes, int threads) {
  const Axis row = axes.back();
  axes.pop_back();
  const auto dense = std::find_if(axes.begin(), axes.end(), [](Axis a) { return a.from == 1; });
  const Axis column = *dense;
  axes.erase(dense);
  const ChannelLoops channels = FindChannelLoops(sizeof(T));
  if (channels.split != nullptr && column.size <= kMostChannels && row.from == column.size) {
    return MoveChannels(std::move(axes), column, row, sizeof(T), channels.split, threads);
  }
  if (channels.join != nullptr && row.size <= kMostChannels && column.to == row.size) {
    return MoveChannels(std::move(axes), row, column, sizeof(T), channels.join, threads);
  }
  // A band: kBlock columns of a plane, which become kBlock rows of the output.
  const int64_t bands = (column.size + kBlock - 1) / kBlock;
  axes.push_back({bands, kBlock, kBlock * column.to});
  void (*transpose)(const T*, int64_t, T*, int64_t, int64_t, int64_t) = &TransposePlane<T>;
  if constexpr (std::is_same_v<T, uint32_t>) transpose = FindTranspose();
  const int64_t grain =
      ParallelGrain(0.3 * static_cast<double>(std::min(kBlock, column.size) * row.size));
  return MakeKernel(
      [=](RunContext& context) {
        const T* x = context.input<T>(0);
        T* y = context.output<T>(0);
        ParallelFor(threads, Count(axes), grain, [&](int64_t begin, int64_t end) {
          int64_t band = begin % bands;
          ForEachOffset(axes, begin, end, [&](int64_t from, int64_t to) {
            const int64_t columns = std::min(kBlock, column.size - band * kBlock);
            for (int64_t r = 0; r < row.size; r += kBlock) {
              transpose(x + from + r * row.from, row.from, y + to + r, column.to,
                        std::min(kBlock, row.size - r), columns);
            }
            if (++band == bands) band = 0;
          });
        });
        return absl::OkStatus();
      },
      "vector:blocks");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> TransposeOf(const Shape& in,
                                                    const std::vector<int64_t>& perm,
                                                    size_t element, int threads) {
  Axes axes = Collapse(in, perm);
  if (in.num_elements() == 0) {
    return MakeKernel([](RunContext&) { return absl::OkStatus(); }, "vector:copy");
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  if (axes.back().from == 1) return CopyRows(std::move(axes), element, threads);
  switch (element) {
    case 1:
      return TransposePlanes<uint8_t>(std::move(axes), threads);
    case 2:
      return TransposePlanes<uint16_t>(std::move(axes), threads);
    case 4:
      return TransposePlanes<uint32_t>(std::move(axes), threads);
    case 8:
      return TransposePlanes<uint64_t>(std::move(axes), threads);
    case 16:
      return TransposePlanes<std::complex<double>>(std::move(axes), threads);
  }
  return Unimplemented("elements of ", element, " bytes");
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorTranspose(PrepareContext& p) {
  if (p.input_dtype(0) == DType::kString) return Unimplemented("strings");
  const Tensor* value = p.value(1);
  if (value == nullptr) return Unimplemented("perm is not known");
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> perm, IntegersOf(*value));
  const Shape& in = p.input_shape(0);
  if (static_cast<int>(perm.size()) != in.rank()) {
    return InvalidArgument("perm has ", perm.size(), " elements for rank ", in.rank());
  }
  for (int64_t& axis : perm) {
    TENON_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, in.rank()));
  }
  TENON_RETURN_IF_ERROR(AxisMask(perm, in.rank()).status());
  p.InputNotRead(1);
  return TransposeOf(in, perm, SizeOf(p.input_dtype(0)), p.services().threads);
}

}  // namespace tenon
