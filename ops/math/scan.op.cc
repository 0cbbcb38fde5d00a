// Cumsum, Cumprod, CumulativeLogsumexp along an axis; exclusive (without the element itself),
// reverse (from the end).
#include <algorithm>
#include <cmath>
#include <limits>

#include "env/round_up.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/running_log_sum.h"
#include "ops/op.h"

namespace tenon {
namespace {

// kNs: the time that one element takes.
struct SumScan {
  static constexpr double kNs = 0.5;
  template <typename C>
  static C Init() {
    return C(0);
  }
  template <typename C>
  static C Combine(C a, C b) {
    return WrapAdd(a, b);
  }
};
struct ProdScan {
  static constexpr double kNs = 0.5;
  template <typename C>
  static C Init() {
    return C(1);
  }
  template <typename C>
  static C Combine(C a, C b) {
    return WrapMul(a, b);
  }
};

struct LogSumExpScan {
  static constexpr double kNs = 30;
  template <typename C>
  static C Init() {
    return -std::numeric_limits<C>::infinity();
  }
  template <typename C>
  static C Combine(C a, C b) {
    const C high = std::max(a, b), low = std::min(a, b);
    if (std::isinf(high) && high < 0) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

absl::Status ScanShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  if (c.input(0).has_rank() && c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*c.value(1), "axis"));
    TENON_RETURN_IF_ERROR(NormalizeAxis(value, c.input(0).rank()).status());
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

// A pass along the middle of three axes.
struct ScanShapes {
  int64_t outer, n, inner;
  bool exclusive, reverse;

  int64_t Place(int64_t k) const { return (reverse ? n - 1 - k : k) * inner; }
};

// Lines of neighboring elements whose sums are computed side by side, because one alone waits for
// each sum, and elements of a line that are computed one after the other, because lines may be a
// multiple of 4 KiB apart.
constexpr int64_t kLines = 8, kTurn = 16;
// Columns whose sums stay in the first-level cache.
constexpr int64_t kColumns = 512;

// `lines` lines of n elements, one after the other.
template <typename Op, int64_t lines, typename T>
void ScanLines(const ScanShapes& s, const T* x, T* y) {
  using C = ComputeType<T>;
  C sums[lines];
  std::fill_n(sums, lines, Op::template Init<C>());
  const bool exclusive = s.exclusive;
  const int64_t step = s.reverse ? -1 : 1;
  for (int64_t begin = 0; begin < s.n; begin += kTurn) {
    const int64_t turn = std::min(kTurn, s.n - begin);
    for (int64_t l = 0; l < lines; ++l) {
      const int64_t first = l * s.n + s.Place(begin);
      C sum = sums[l];
      for (int64_t k = 0; k < turn; ++k) {
        const int64_t at = first + k * step;
        const C before = sum;
        sum = Op::Combine(sum, ToCompute(x[at]));
        y[at] = static_cast<T>(exclusive ? before : sum);
      }
      sums[l] = sum;
    }
  }
}

// `columns` <= kColumns columns that begin at x.
template <typename Op, typename T>
void ScanColumns(const ScanShapes& s, int64_t columns, const T* x, T* y) {
  using C = ComputeType<T>;
  C sum[kColumns];
  std::fill_n(sum, columns, Op::template Init<C>());
  for (int64_t k = 0; k < s.n; ++k) {
    const T* const from = x + s.Place(k);
    T* const to = y + s.Place(k);
    for (int64_t i = 0; i < columns; ++i) {
      const C before = sum[i];
      sum[i] = Op::Combine(before, ToCompute(from[i]));
      to[i] = static_cast<T>(s.exclusive ? before : sum[i]);
    }
  }
}

template <typename Op, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> Scan(PrepareContext& p) {
  const Tensor* axis_value = p.value(1);
  if (axis_value == nullptr) return PrepareLate(p, Scan<Op, Types>, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*axis_value, "axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  const ScanShapes s{Product(in, 0, axis), in.dim(axis), Product(in, axis + 1, in.rank()),
                     p.attrs().Bool("exclusive", false), p.attrs().Bool("reverse", false)};
  const bool lines = s.inner == 1;
  const int64_t blocks = CeilDiv(s.inner, kColumns);
  const int64_t units = lines ? CeilDiv(s.outer, kLines) : s.outer * blocks;
  const int64_t of_unit = s.n * (lines ? kLines : std::min(s.inner, kColumns));
  const int64_t grain = ParallelGrain(Op::kNs * static_cast<double>(of_unit));
  const int threads = p.services().threads;
  return DispatchType(Types{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      ParallelFor(threads, units, grain, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; ++u) {
          const T* const x = run.input<T>(0);
          T* const y = run.output<T>(0);
          if (!lines) {
            const int64_t first = u % blocks * kColumns, at = u / blocks * s.n * s.inner + first;
            ScanColumns<Op>(s, std::min(kColumns, s.inner - first), x + at, y + at);
            continue;
          }
          int64_t line = u * kLines;
          if (line + kLines <= s.outer) {
            ScanLines<Op, kLines>(s, x + line * s.n, y + line * s.n);
            continue;
          }
          for (; line < s.outer; ++line) ScanLines<Op, 1>(s, x + line * s.n, y + line * s.n);
        }
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration cumsum({
    .name = "Cumsum",
    .inputs = "x: T, axis: Tidx",
    .outputs = "out: T",
    .attrs = "exclusive: bool = false; reverse: bool = false; T: type; Tidx: type = int32",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tidx: int32 int64",
    .shape = ScanShape,
    .reference = Scan<SumScan, Numbers>,
    .batch_axis = batch_axis::AlongOtherAxes,
    .error_bound = ErrorBound::kRunningSum,
});

const OpRegistration cumprod({
    .name = "Cumprod",
    .inputs = "x: T, axis: Tidx",
    .outputs = "out: T",
    .attrs = "exclusive: bool = false; reverse: bool = false; T: type; Tidx: type = int32",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tidx: int32 int64",
    .shape = ScanShape,
    .reference = Scan<ProdScan, Numbers>,
    .batch_axis = batch_axis::AlongOtherAxes,
    .error_bound = ErrorBound::kRunningProduct,
});

const OpRegistration cumulative_logsumexp({
    .name = "CumulativeLogsumexp",
    .inputs = "x: T, axis: Tidx",
    .outputs = "out: T",
    .attrs = "exclusive: bool = false; reverse: bool = false; T: type; Tidx: type = int32",
    .types = "T: bfloat16 half float double; Tidx: int32 int64",
    .shape = ScanShape,
    .reference = Scan<LogSumExpScan, Floats>,
    .accelerated = RunningLogSumVector,
    .native = "_MklNativeCumulativeLogsumexp",
    .native_types = "float double",
    .error_bound = ErrorBound::kRunningLogSum,
});

}  // namespace
}  // namespace tenon
