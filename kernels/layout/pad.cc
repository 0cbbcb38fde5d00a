#include "kernels/layout/pad.h"

#include <algorithm>
#include <vector>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"

namespace tenon {
namespace {

// The rows of the padded tensor: the last padded dimension and all after it. A row is all constant,
// or a row of the input with constants before and after.
struct PaddedRows {
  struct Dim {
    int64_t in, out, before;
  };
  std::vector<Dim> outer;  // innermost first
  int64_t rows = 1, before = 0, middle = 1, after = 0;

  PaddedRows(const Shape& in, const std::vector<Padding>& pads) {
    size_t last = pads.size();
    while (last > 1 && pads[last - 1].before == 0 && pads[last - 1].after == 0) --last;
    int64_t inner = 1;
    for (size_t i = last; i < pads.size(); ++i) inner *= in.dims()[i];
    if (last > 0) {
      --last;
      before = pads[last].before * inner;
      middle = in.dims()[last] * inner;
      after = pads[last].after * inner;
    }
    for (size_t i = last; i-- > 0;) {
      const int64_t size = in.dims()[i];
      outer.push_back({size, size + pads[i].before + pads[i].after, pads[i].before});
      rows *= outer.back().out;
    }
  }
  int64_t size() const { return before + middle + after; }

  // The input row in an output row; -1: none.
  int64_t Source(int64_t row) const {
    int64_t source = 0, scale = 1;
    for (const Dim& d : outer) {
      const int64_t i = row % d.out - d.before;
      if (i < 0 || i >= d.in) return -1;
      source += i * scale;
      scale *= d.in;
      row /= d.out;
    }
    return source;
  }

  template <typename T>
  void Run(const T* x, const T& constant, T* y, int64_t begin, int64_t end) const {
    y += begin * size();
    for (int64_t row = begin; row < end; ++row, y += size()) {
      const int64_t source = Source(row);
      if (source < 0) {
        std::fill_n(y, size(), constant);
        continue;
      }
      std::fill_n(y, before, constant);
      std::copy_n(x + source * middle, middle, y + before);
      std::fill_n(y + before + middle, after, constant);
    }
  }
};

// The source of padded elements: element i of dimension d comes from offset sources[d][i].
std::vector<std::vector<int64_t>> MirrorSources(const Shape& plain, const Shape& padded,
                                                const std::vector<Padding>& pads, int64_t skip) {
  std::vector<std::vector<int64_t>> sources;
  const std::vector<int64_t> strides = DenseStrides(plain);
  for (size_t d = 0; d < pads.size(); ++d) {
    const int64_t size = plain.dims()[d];
    std::vector<int64_t>& from = sources.emplace_back();
    for (int64_t i = 0; i < padded.dims()[d]; ++i) {
      int64_t k = i - pads[d].before;
      if (k < 0) k = -k - 1 + skip;
      if (k >= size) k = 2 * size - 1 - skip - k;
      from.push_back(k * strides[d]);
    }
  }
  if (sources.empty()) sources.push_back({0});
  return sources;
}

// The rows of a mirrored tensor: the last padded dimension and all after it. A row is a row of the
// input with copies of its blocks before and after.
struct MirroredRows {
  std::vector<std::vector<int64_t>> outer;  // sources in the dimensions before, outermost first
  std::vector<int64_t> blocks;              // sources in the row
  int64_t rows = 1, before = 0, middle = 1, block = 1;

  MirroredRows(const Shape& in, const Shape& out, const std::vector<Padding>& pads, int64_t skip)
      : outer(MirrorSources(in, out, pads, skip)) {
    size_t last = pads.size();
    while (last > 1 && pads[last - 1].before == 0 && pads[last - 1].after == 0) {
      block *= in.dims()[--last];
    }
    if (last > 0) {
      before = pads[last - 1].before;
      middle = in.dims()[last - 1];
      outer.resize(last);
    }
    blocks = std::move(outer.back());
    outer.pop_back();
    for (const auto& sources : outer) rows *= static_cast<int64_t>(sources.size());
  }
  int64_t size() const { return static_cast<int64_t>(blocks.size()) * block; }

  int64_t Source(int64_t row) const {
    int64_t source = 0;
    for (size_t d = outer.size(); d-- > 0;) {
      const auto size = static_cast<int64_t>(outer[d].size());
      source += outer[d][static_cast<size_t>(row % size)];
      row /= size;
    }
    return source;
  }

  template <typename T>
  void Run(const T* x, T* y, int64_t begin, int64_t end) const {
    y += begin * size();
    const int64_t n = static_cast<int64_t>(blocks.size());
    for (int64_t row = begin; row < end; ++row) {
      const T* const from = x + Source(row);
      const auto copy = [&](int64_t b, int64_t count) {
        const T* const block_from = from + blocks[static_cast<size_t>(b)];
        for (int64_t i = 0; i < count; ++i) *y++ = block_from[i];
      };
      for (int64_t b = 0; b < before; ++b) copy(b, block);
      y = std::copy_n(from, middle * block, y);
      for (int64_t b = before + middle; b < n; ++b) copy(b, block);
    }
  }

  // The gradient: adds every element of the mirrored tensor to the one that it is a copy of.
  template <typename T, typename S>
  void Fold(const T* grad, S* sums) const {
    const int64_t n = static_cast<int64_t>(blocks.size());
    for (int64_t row = 0; row < rows; ++row) {
      S* const to = sums + Source(row);
      const auto add = [&](int64_t at, int64_t count) {
        for (int64_t i = 0; i < count; ++i) to[at + i] = WrapAdd(to[at + i], ToCompute(grad[i]));
        grad += count;
      };
      for (int64_t b = 0; b < before; ++b) add(blocks[static_cast<size_t>(b)], block);
      add(0, middle * block);
      for (int64_t b = before + middle; b < n; ++b) add(blocks[static_cast<size_t>(b)], block);
    }
  }
};

}  // namespace

absl::StatusOr<std::vector<Padding>> ReadPaddings(const Tensor& t, int rank) {
  if (t.shape() != Shape({rank, 2})) {
    return InvalidArgument("paddings must have shape [", rank, ",2], but have ",
                           t.shape().ToString());
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> v, IntegersOf(t));
  std::vector<Padding> out;
  for (size_t i = 0; i < v.size(); i += 2) {
    if (v[i] < 0 || v[i + 1] < 0) {
      return InvalidArgument("paddings must not be negative: ", v[i], ", ", v[i + 1]);
    }
    out.push_back({v[i], v[i + 1]});
  }
  return out;
}

absl::StatusOr<std::unique_ptr<Kernel>> PadKernel(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, PadKernel, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, ReadPaddings(*value, in.rank()));
  const bool has_constant = p.num_inputs() > 2, empty = p.output_shape(0).num_elements() == 0;
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel(
      [rows = PaddedRows(in, pads), has_constant, empty, dtype, threads](RunContext& run) {
        if (empty) return absl::OkStatus();
        VisitStorage(dtype, [&]<typename T>() {
          const T constant = has_constant ? *run.input<T>(2) : T();
          const double ns = 5 + 0.1 * static_cast<double>(rows.size()) * sizeof(T);
          ParallelFor(threads, rows.rows, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
            rows.Run(run.input<T>(0), constant, run.output<T>(0), begin, end);
          });
        });
        return absl::OkStatus();
      });
}

absl::StatusOr<int64_t> MirrorOffset(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const std::string mode, attrs.String("mode"));
  if (mode == "REFLECT") return 1;
  if (mode == "SYMMETRIC") return 0;
  return InvalidArgument("mode must be REFLECT or SYMMETRIC, but is '", mode, "'");
}

absl::StatusOr<std::unique_ptr<Kernel>> MirrorPadKernel(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, MirrorPadKernel, {1});
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const int64_t skip, MirrorOffset(p.attrs()));
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, ReadPaddings(*value, in.rank()));
  const bool empty = out.num_elements() == 0;
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel(
      [mirrored = MirroredRows(in, out, pads, skip), empty, dtype, threads](RunContext& run) {
        if (empty) return absl::OkStatus();
        VisitStorage(dtype, [&]<typename T>() {
          const double ns = 10 + 0.1 * static_cast<double>(mirrored.size()) * sizeof(T);
          ParallelFor(threads, mirrored.rows, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
            mirrored.Run(run.input<T>(0), run.output<T>(0), begin, end);
          });
        });
        return absl::OkStatus();
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> MirrorPadGradKernel(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, MirrorPadGradKernel, {1});
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const int64_t skip, MirrorOffset(p.attrs()));
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, ReadPaddings(*value, in.rank()));
  const int64_t n = out.num_elements();
  const bool empty = in.num_elements() == 0;
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    using C = ComputeType<T>;
    return MakeKernel([=, mirrored = MirroredRows(out, in, pads, skip)](RunContext& run) {
      T* const to = run.output<T>(0);
      if constexpr (std::is_same_v<T, C>) {
        std::fill_n(to, n, C(0));
        if (!empty) mirrored.Fold(run.input<T>(0), to);
      } else {
        std::vector<C> sums(static_cast<size_t>(n), C(0));
        if (!empty) mirrored.Fold(run.input<T>(0), sums.data());
        std::transform(sums.begin(), sums.end(), to, [](const C& v) { return static_cast<T>(v); });
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
