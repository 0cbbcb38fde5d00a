// ClipByValue: max(min(t, high), low), in TensorFlow's order; the bounds are scalars or have t's
// shape. Of complex numbers, both parts are clipped, each by the bounds' parts.
#include <algorithm>
#include <array>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/half_simd.h"
#include "kernels/elementwise/plain_maps_simd.h"
#include "kernels/elementwise/reference_broadcast.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ClipShape(ShapeContext& c) {
  for (int i = 1; i <= 2; ++i) {
    if (c.input(i).has_rank() && c.input(i).rank() == 0) continue;
    if (!c.input(i).CompatibleWith(c.input(0))) {
      return InvalidArgument("bounds of shape ", c.input(i).ToString(), " for ",
                             c.input(0).ToString());
    }
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

// In vector code.
template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> ClipInVectors(const PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  const size_t low_step = p.input_shape(1).num_elements() == n && n > 1;
  const size_t high_step = p.input_shape(2).num_elements() == n && n > 1;
  const int threads = p.services().threads;
  return MakeKernel([=, clip = FindClip<T>()](RunContext& run) {
    const T* const t = run.input<T>(0);
    T* const out = run.output<T>(0);
    ParallelFor(threads, n, ParallelGrain(0.3), [&](int64_t begin, int64_t end) {
      const size_t at = static_cast<size_t>(begin);
      const ClipBounds<T> bounds = {run.input<T>(1) + at * low_step,
                                    run.input<T>(2) + at * high_step, low_step, high_step};
      clip(t + begin, bounds, out + begin, static_cast<size_t>(end - begin));
    });
    return absl::OkStatus();
  });
}

// Half and bfloat16, some as floats at a time, which changes none of them.
struct NarrowFloats {
  void (*widen)(const uint16_t* from, float* to, size_t n);
  void (*narrow)(const float* from, uint16_t* to, size_t n);
};
absl::StatusOr<std::unique_ptr<Kernel>> ClipNarrow(const PrepareContext& p,
                                                   const NarrowFloats& type) {
  const int64_t n = p.output_shape(0).num_elements();
  std::array<bool, 3> one{};  // inputs of one element
  for (int i = 1; i <= 2; ++i) {
    one[static_cast<size_t>(i)] = p.input_shape(i).num_elements() != n || n == 1;
  }
  const int threads = p.services().threads;
  return MakeKernel([=, clip = FindClip<float>()](RunContext& run) {
    ParallelFor(threads, n, ParallelGrain(0.5), [&](int64_t begin, int64_t end) {
      constexpr int64_t kTogether = 512;
      std::array<std::array<float, kTogether>, 3> wide;
      const ClipBounds<float> bounds = {wide[1].data(), wide[2].data(), one[1] ? 0u : 1u,
                                        one[2] ? 0u : 1u};
      for (int64_t at = begin; at < end; at += kTogether) {
        const auto count = static_cast<size_t>(std::min(kTogether, end - at));
        for (size_t i = 0; i < wide.size(); ++i) {
          const auto* const from = run.input<uint16_t>(static_cast<int>(i));
          type.widen(one[i] ? from : from + at, wide[i].data(), one[i] ? 1 : count);
        }
        clip(wide[0].data(), bounds, wide[0].data(), count);
        type.narrow(wide[0].data(), run.output<uint16_t>(0) + at, count);
      }
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ClipComplex(const PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  const int64_t low_step = p.input_shape(1).num_elements() == n && n > 1;
  const int64_t high_step = p.input_shape(2).num_elements() == n && n > 1;
  return DispatchType(Complexes{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const auto clip = [](auto v, auto low, auto high) {
        const auto lowered = high < v ? high : v;
        return lowered < low ? low : lowered;
      };
      for (int64_t i = 0; i < n; ++i) {
        const T v = run.input<T>(0)[i], low = run.input<T>(1)[i * low_step],
                high = run.input<T>(2)[i * high_step];
        run.output<T>(0)[i] =
            T(clip(v.real(), low.real(), high.real()), clip(v.imag(), low.imag(), high.imag()));
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> Clip(PrepareContext& p) {
  const Broadcast space(p.output_shape(0), {p.input_shape(0), p.input_shape(1), p.input_shape(2)});
  p.AllowInPlace(0, 0);
  auto in_vectors = DispatchType(TypeList<float, double, int32_t, int64_t>{}, p.output_dtype(0),
                                 [&]<typename T>() { return ClipInVectors<T>(p); });
  if (in_vectors.ok()) return in_vectors;
  if (p.output_dtype(0) == DType::kHalf) return ClipNarrow(p, {WidenHalf, NarrowToHalf});
  if (p.output_dtype(0) == DType::kBfloat16) {
    return ClipNarrow(p, {WidenBfloat16, NarrowToBfloat16});
  }
  if (IsComplex(p.output_dtype(0))) return ClipComplex(p);
  return DispatchType(RealNumbers{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([space](RunContext& run) {
      space.ForEachTile([&](const Tile& tile) {
        const T* t = run.input<T>(0) + tile.offset[0];
        const T* low = run.input<T>(1) + tile.offset[1];
        const T* high = run.input<T>(2) + tile.offset[2];
        T* out = run.output<T>(0) + tile.out;
        for (int64_t i = 0; i < tile.rows * tile.cols; ++i) {
          const auto l = ToCompute(low[i * tile.col_stride[1]]);
          const auto h = ToCompute(high[i * tile.col_stride[2]]);
          const auto v = ToCompute(t[i * tile.col_stride[0]]);
          const auto lowered = h < v ? h : v;
          out[i] = static_cast<T>(lowered < l ? l : lowered);
        }
        return true;
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration clip_by_value({
    .name = "ClipByValue",
    .inputs = "t: T, clip_value_min: T, clip_value_max: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64 "
             "complex64 complex128",
    .shape = ClipShape,
    .reference = Clip,
    .elementwise = true,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
