#include "kernels/pooling/pool.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/pooling/pool_geometry.h"
#include "primitive_cache/pooling.h"

namespace tenon {
namespace {

template <typename T>
class PoolReference {
  using C = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, T>;

 public:
  PoolReference(const PoolGeometry& g, PoolKind kind, const T* input, T* output)
      : g_(g), kind_(kind), input_(input), output_(output) {}

  void Run(int threads) const {
    const int64_t positions = g_.out_positions();
    const double ns = static_cast<double>(g_.channels * g_.window_positions());
    ParallelFor(threads, g_.batch * positions, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      std::vector<C> total(static_cast<size_t>(g_.channels));
      for (int64_t i = begin; i < end; ++i) {
        One(i / positions, i % positions, positions, total.data());
      }
    });
  }

 private:
  void One(int64_t n, int64_t o, int64_t positions, C* total) const {
    const bool last = g_.attrs.channels_last;
    const int64_t in_positions = g_.in_positions(), channels = g_.channels;
    const C start = kind_ == PoolKind::kAverage ? C(0) : Lowest();
    std::fill(total, total + channels, start);
    int64_t seen = 0;
    const int64_t window = g_.window_positions();
    for (int64_t w = 0; w < window; ++w) {
      const int64_t position = InputPosition(o, w);
      if (position < 0) continue;
      ++seen;
      const T* x = input_ + n * channels * in_positions + (last ? position * channels : position);
      const int64_t step = last ? 1 : in_positions;
      if (kind_ == PoolKind::kAverage) {
        for (int64_t c = 0; c < channels; ++c) total[c] += static_cast<C>(x[c * step]);
      } else {
        for (int64_t c = 0; c < channels; ++c) {
          const C v = static_cast<C>(x[c * step]);
          total[c] = total[c] < v ? v : total[c];
        }
      }
    }
    T* y = output_ + n * channels * positions + (last ? o * channels : o);
    const int64_t step = last ? 1 : positions;
    for (int64_t c = 0; c < channels; ++c) {
      const C v =
          kind_ == PoolKind::kAverage ? static_cast<C>(total[c] / static_cast<C>(seen)) : total[c];
      y[c * step] = static_cast<T>(v);
    }
  }

  int64_t InputPosition(int64_t o, int64_t w) const {
    int64_t position = 0, scale = 1;
    for (size_t d = g_.in.size(); d-- > 0;) {
      const int64_t x =
          o % g_.out[d] * g_.attrs.strides[d] + w % g_.attrs.window[d] - g_.pads_begin[d];
      if (x < 0 || x >= g_.in[d]) return -1;
      position += x * scale;
      scale *= g_.in[d];
      o /= g_.out[d];
      w /= g_.attrs.window[d];
    }
    return position;
  }

  static C Lowest() {
    // TensorFlow starts from the lowest finite number, so a window of only -inf gives that number.
    return std::numeric_limits<C>::lowest();
  }

  const PoolGeometry& g_;
  const PoolKind kind_;
  const T* const input_;
  T* const output_;
};

class PoolOnednn final : public Kernel {
 public:
  explicit PoolOnednn(std::shared_ptr<const Primitive> primitive)
      : primitive_(std::move(primitive)) {}
  absl::Status Run(RunContext& r) const override {
    void* const pointers[] = {const_cast<void*>(r.input(0)), r.output(0)};
    return primitive_->Execute(pointers, r.scratch());
  }
  std::string Implementation() const override { return primitive_->implementation(); }
  size_t HeldBytes() const override { return primitive_->bytes(); }

 private:
  const std::shared_ptr<const Primitive> primitive_;
};

}  // namespace

absl::StatusOr<PoolGeometry> PoolGeometryOf(PrepareContext& p, int spatial) {
  const bool from_inputs = WindowIsInput(p.attrs());
  const Tensor* ksize = from_inputs ? p.value(1) : nullptr;
  const Tensor* strides = from_inputs ? p.value(2) : nullptr;
  if (from_inputs && (ksize == nullptr || strides == nullptr)) {
    return Unimplemented("a window that is not known before the run");
  }
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, PoolAttrs(p.attrs(), spatial, ksize, strides));
  return ResolvePool(attrs, p.input_shape(0));
}

absl::StatusOr<std::unique_ptr<Kernel>> PoolReferenceKernel(PrepareContext& p, int spatial,
                                                            PoolKind kind) {
  TENON_ASSIGN_OR_RETURN(PoolGeometry g, PoolGeometryOf(p, spatial));
  const DType dtype = p.output_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel([g, kind, dtype, threads](RunContext& r) {
    using Types = TypeList<float, double, half, bfloat16, int8_t, uint8_t, int16_t, uint16_t,
                           int32_t, int64_t>;
    return DispatchType(Types{}, dtype, [&]<typename T>() {
      PoolReference<T>(g, kind, r.input<T>(0), r.output<T>(0)).Run(threads);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> PoolOnednnKernel(PrepareContext& p, int spatial,
                                                         PoolKind kind) {
  ElementType type;
  if (const DType dtype = p.output_dtype(0); IsQuantized(dtype) && SizeOf(dtype) == 1) {
    type = dtype == DType::kQint8 ? ElementType::kS8 : ElementType::kU8;
  } else {
    TENON_ASSIGN_OR_RETURN(type, ElementTypeOf(dtype));
  }
  TENON_ASSIGN_OR_RETURN(const PoolGeometry g, PoolGeometryOf(p, spatial));
  if (p.output_shape(0).num_elements() == 0 || p.input_shape(0).num_elements() == 0) {
    return Unimplemented("empty");
  }
  PoolingProblem problem;
  problem.kind =
      kind == PoolKind::kMax ? PoolingProblem::Kind::kMax : PoolingProblem::Kind::kAverage;
  problem.src = ImageDesc(type, g.attrs.channels_last, g.batch, g.channels, g.in);
  problem.dst = ImageDesc(type, g.attrs.channels_last, g.batch, g.channels, g.out);
  problem.window = g.attrs.window;
  problem.strides = g.attrs.strides;
  problem.pads_begin = g.pads_begin;
  problem.pads_end = g.pads_end;
  problem.threads = ThreadsWorth(
      p.services().threads, static_cast<double>(problem.dst.num_elements() * g.window_positions()),
      static_cast<size_t>(problem.src.num_elements()) * SizeOf(type));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Primitive> primitive,
                         GetPooling(problem, p.services().cache));
  if (primitive->scratch_bytes() > 0) p.RequestScratch(primitive->scratch_bytes());
  return std::make_unique<PoolOnednn>(std::move(primitive));
}

}  // namespace tenon
