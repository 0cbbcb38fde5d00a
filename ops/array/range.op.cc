// Range and LinSpace.
#include <cmath>

#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int64_t kLongest = int64_t{1} << 40;

template <typename T>
absl::StatusOr<int64_t> RangeLength(T start, T limit, T delta) {
  if (delta == T(0)) return InvalidArgument("the step of a range must not be 0");
  if (delta > T(0) ? limit < start : start < limit) {
    return InvalidArgument("a range that steps away from its limit");
  }
  double length;
  if constexpr (kIsInt<T>) {
    // The span of two int64 may need 65 bits.
    const auto distance = limit > start
                              ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                              : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t step = static_cast<uint64_t>(delta);
    if (delta < T(0)) step = uint64_t{0} - step;
    const uint64_t n = distance / step + (distance % step != 0 ? 1 : 0);
    if (n > static_cast<uint64_t>(kLongest)) return InvalidArgument("a range that is too long");
    return static_cast<int64_t>(n);
  } else {
    length = std::ceil(std::abs((ToCompute(limit) - ToCompute(start)) / ToCompute(delta)));
    if (!(length <= static_cast<double>(kLongest))) {
      return InvalidArgument("a range that is too long");
    }
    return static_cast<int64_t>(length);
  }
}

absl::StatusOr<int64_t> RangeLength(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return DispatchType(RealNumbers{}, start.dtype(), [&]<typename T>() {
    return RangeLength<T>(*start.data<T>(), *limit.data<T>(), *delta.data<T>());
  });
}

absl::Status RangeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  int64_t length = -1;
  if (c.value(0) != nullptr && c.value(1) != nullptr && c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(length, RangeLength(*c.value(0), *c.value(1), *c.value(2)));
  }
  c.set_output(0, Shape({length}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Range(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, Range, {0, 1, 2});
  const int64_t n = p.output_shape(0).dim(0);
  return DispatchType(RealNumbers{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([n](RunContext& run) {
      const T start = *run.input<T>(0);
      const T delta = *run.input<T>(2);
      T* out = run.output<T>(0);
      T value = start;
      for (int64_t i = 0; i < n; ++i) {
        out[i] = value;
        if constexpr (kIsInt<T>) {
          value = WrapAdd(value, delta);
        } else {
          value = static_cast<T>(ToCompute(value) + ToCompute(delta));
        }
      }
      return absl::OkStatus();
    });
  });
}

absl::Status LinSpaceShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  int64_t n = -1;
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(n, ScalarInteger(*c.value(2), "num"));
    if (n <= 0) return InvalidArgument("num must be positive, but is ", n);
  }
  c.set_output(0, Shape({n}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> LinSpace(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, LinSpace, {2});
  p.InputNotRead(2);
  const int64_t n = p.output_shape(0).dim(0);
  return DispatchType(Floats{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([n](RunContext& run) {
      using C = ComputeType<T>;
      const C start = ToCompute(*run.input<T>(0));
      const C stop = ToCompute(*run.input<T>(1));
      T* out = run.output<T>(0);
      const C step = n > 1 ? (stop - start) / static_cast<C>(n - 1) : C(0);
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(start + step * static_cast<C>(i));
      if (n > 1) out[n - 1] = static_cast<T>(stop);
      return absl::OkStatus();
    });
  });
}

const OpRegistration range({
    .name = "Range",
    .inputs = "start: Tidx, limit: Tidx, delta: Tidx",
    .outputs = "output: Tidx",
    .attrs = "Tidx: type = int32",
    .types = "Tidx: bfloat16 half float double int8 int16 int32 int64 uint16 uint32 uint64",
    .shape = RangeShape,
    .reference = Range,
});

const OpRegistration lin_space({
    .name = "LinSpace",
    .inputs = "start: T, stop: T, num: Tidx",
    .outputs = "output: T",
    .attrs = "T: type; Tidx: type = int32",
    .types = "T: bfloat16 half float double; Tidx: int32 int64",
    .shape = LinSpaceShape,
    .reference = LinSpace,
});

}  // namespace
}  // namespace tenon
