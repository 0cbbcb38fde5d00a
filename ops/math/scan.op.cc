// Cumsum, Cumprod, CumulativeLogsumexp along an axis; exclusive (without the element itself),
// reverse (from the end).
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "kernels/reduction/running_log_sum.h"
#include "ops/op.h"

namespace tenon {
namespace {

struct SumScan {
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

template <typename Op, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> Scan(PrepareContext& p) {
  const Tensor* axis_value = p.value(1);
  if (axis_value == nullptr) return PrepareLate(p, Scan<Op, Types>, {1});
  p.InputNotRead(1);
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t value, ScalarInteger(*axis_value, "axis"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(value, in.rank()));
  const bool exclusive = p.attrs().Bool("exclusive", false);
  const bool reverse = p.attrs().Bool("reverse", false);
  const int64_t outer = Product(in, 0, axis);
  const int64_t n = in.dim(axis);
  const int64_t inner = Product(in, axis + 1, in.rank());
  return DispatchType(Types{}, p.input_dtype(0), [&]<typename T>() {
    using C = ComputeType<T>;
    p.RequestScratch(static_cast<size_t>(inner) * sizeof(C));
    return MakeKernel([=](RunContext& run) {
      C* sum = static_cast<C*>(run.scratch());
      for (int64_t o = 0; o < outer; ++o) {
        std::fill_n(sum, inner, Op::template Init<C>());
        for (int64_t k = 0; k < n; ++k) {
          const int64_t row = (o * n + (reverse ? n - 1 - k : k)) * inner;
          const T* x = run.input<T>(0) + row;
          T* y = run.output<T>(0) + row;
          for (int64_t i = 0; i < inner; ++i) {
            const C before = sum[i];
            sum[i] = Op::Combine(before, ToCompute(x[i]));
            y[i] = static_cast<T>(exclusive ? before : sum[i]);
          }
        }
      }
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
