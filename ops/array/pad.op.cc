// Pad, PadV2 (a constant around), MirrorPad (the tensor's own border, mirrored), MirrorPadGrad.
#include <algorithm>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/layout/strided_copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct Padding {
  int64_t before;
  int64_t after;
};

absl::StatusOr<std::vector<Padding>> Paddings(const Tensor& t, int rank) {
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

absl::Status PadShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  if (c.num_inputs() > 2 && c.input(2).has_rank() && c.input(2).rank() != 0) {
    return InvalidArgument("constant_values must be a scalar, but has shape ",
                           c.input(2).ToString());
  }
  const Shape& in = c.input(0);
  const Shape& paddings = c.input(1);
  if (paddings.has_rank() && paddings.dim(1) >= 0 && paddings.dim(1) != 2) {
    return InvalidArgument("paddings must have two columns, but have shape ", paddings.ToString());
  }
  if (!in.has_rank()) {
    if (paddings.has_rank() && paddings.dim(0) >= 0) {
      c.set_output(0, Shape::UnknownOfRank(static_cast<int>(paddings.dim(0))));
    }
    return absl::OkStatus();
  }
  if (c.value(1) == nullptr) {
    if (paddings.has_rank() && paddings.dim(0) >= 0 && paddings.dim(0) != in.rank()) {
      return InvalidArgument("paddings of shape ", paddings.ToString(), " for shape ",
                             in.ToString());
    }
    c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, Paddings(*c.value(1), in.rank()));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    const Padding& pad = pads[static_cast<size_t>(i)];
    int64_t size = in.dim(i);
    if (size >= 0 && (__builtin_add_overflow(size, pad.before, &size) ||
                      __builtin_add_overflow(size, pad.after, &size))) {
      return InvalidArgument("paddings that are too large");
    }
    out.push_back(size);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Rows of the padded tensor: the last padded dimension with all behind it. A row is all constant,
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

  // The input's row that an output row holds; -1: none.
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

// Input 2, where there is one, is the constant.
absl::StatusOr<std::unique_ptr<Kernel>> PadReference(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, PadReference, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, Paddings(*value, in.rank()));
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

absl::Status MirrorPadShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t skip, MirrorOffset(c.attrs()));
  TENON_RETURN_IF_ERROR(PadShape(c));
  const Shape& in = c.input(0);
  if (!in.has_rank() || c.value(1) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, Paddings(*c.value(1), in.rank()));
  for (int i = 0; i < in.rank(); ++i) {
    const Padding& pad = pads[static_cast<size_t>(i)];
    if (in.dim(i) >= 0 &&
        std::max(pad.before, pad.after) > std::max<int64_t>(in.dim(i) - skip, 0)) {
      return InvalidArgument("paddings ", pad.before, ", ", pad.after, " of dimension ", i,
                             " are larger than its border of ", in.dim(i) - skip);
    }
  }
  return absl::OkStatus();
}

// Where padded elements come from: element i of dimension d from offset sources[d][i].
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

// f(offset of the source) for every padded element, row-major. There must be some.
template <typename F>
void ForEachMirrored(const std::vector<std::vector<int64_t>>& sources, F&& f) {
  std::vector<size_t> index(sources.size() - 1, 0);
  for (;;) {
    int64_t base = 0;
    for (size_t d = 0; d < index.size(); ++d) base += sources[d][index[d]];
    for (int64_t from : sources.back()) f(base + from);
    size_t d = index.size();
    for (; d > 0; --d) {
      if (++index[d - 1] < sources[d - 1].size()) break;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> MirrorPad(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, MirrorPad, {1});
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const int64_t skip, MirrorOffset(p.attrs()));
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, Paddings(*value, in.rank()));
  const int64_t n = out.num_elements();
  const DType dtype = p.input_dtype(0);
  return MakeKernel([sources = MirrorSources(in, out, pads, skip), n, dtype](RunContext& run) {
    if (n == 0) return absl::OkStatus();
    VisitStorage(dtype, [&]<typename T>() {
      const T* in = run.input<T>(0);
      T* out = run.output<T>(0);
      ForEachMirrored(sources, [&](int64_t from) { *out++ = in[from]; });
    });
    return absl::OkStatus();
  });
}

// The input has the padded shape, the output the plain one.
absl::Status MirrorPadGradShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t skip, MirrorOffset(c.attrs()));
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  if (c.value(1) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, Paddings(*c.value(1), in.rank()));
  Shape out = in;
  for (int i = 0; i < in.rank(); ++i) {
    const Padding& pad = pads[static_cast<size_t>(i)];
    if (in.dim(i) < 0) continue;
    // Each is at most the input's size, so that nothing overflows.
    const int64_t widest = std::max(pad.before, pad.after);
    const int64_t rest = widest > in.dim(i) ? -1 : in.dim(i) - pad.before - pad.after;
    if (rest < 0 || widest > std::max<int64_t>(rest - skip, 0)) {
      return InvalidArgument("paddings ", pad.before, ", ", pad.after, " of dimension ", i,
                             " do not fit a padded size of ", in.dim(i));
    }
    out.set_dim(i, rest);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> MirrorPadGrad(PrepareContext& p) {
  const Tensor* value = p.value(1);
  if (value == nullptr) return PrepareLate(p, MirrorPadGrad, {1});
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const int64_t skip, MirrorOffset(p.attrs()));
  const Shape& in = p.input_shape(0);
  const Shape& out = p.output_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<Padding> pads, Paddings(*value, in.rank()));
  const auto sources = MirrorSources(out, in, pads, skip);
  const int64_t n = out.num_elements(), padded = in.num_elements();
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    using C = ComputeType<T>;
    return MakeKernel([=](RunContext& run) {
      std::vector<C> sums(static_cast<size_t>(n), C(0));
      const T* grad = run.input<T>(0);
      if (padded > 0) {
        ForEachMirrored(sources, [&](int64_t to) {
          C& sum = sums[static_cast<size_t>(to)];
          sum = WrapAdd(sum, ToCompute(*grad++));
        });
      }
      std::transform(sums.begin(), sums.end(), run.output<T>(0),
                     [](const C& v) { return static_cast<T>(v); });
      return absl::OkStatus();
    });
  });
}

const OpRegistration pad({
    .name = "Pad",
    .inputs = "input: T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32",
    .types = "Tpaddings: int32 int64",
    .shape = PadShape,
    .reference = PadReference,
});

const OpRegistration pad_v2({
    .name = "PadV2",
    .inputs = "input: T, paddings: Tpaddings, constant_values: T",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32",
    .types = "Tpaddings: int32 int64",
    .shape = PadShape,
    .reference = PadReference,
});

const OpRegistration mirror_pad({
    .name = "MirrorPad",
    .inputs = "input: T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32; mode: string",
    .types = "Tpaddings: int32 int64",
    .shape = MirrorPadShape,
    .reference = MirrorPad,
});

const OpRegistration mirror_pad_grad({
    .name = "MirrorPadGrad",
    .inputs = "input: T, paddings: Tpaddings",
    .outputs = "output: T",
    .attrs = "T: type; Tpaddings: type = int32; mode: string",
    .types = "Tpaddings: int32 int64",
    .shape = MirrorPadGradShape,
    .reference = MirrorPadGrad,
});

}  // namespace
}  // namespace tenon
