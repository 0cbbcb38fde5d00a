#include "kernels/normalization/channel_sums.h"

#include <cmath>
#include <limits>
#include <string>

#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "kernels/normalization/channel_statistics.h"

namespace tenon {
namespace {

constexpr int64_t kLeastRow = 16;

struct SumsProblem {
  int64_t outer = 1, channels = 1, inner = 1;
  DType dtype = DType::kFloat;
  int threads = 1;
  bool gated = false;  // of gradient sums
  float gate_limit = std::numeric_limits<float>::infinity();

  ChannelLayout Layout() const { return ChannelLayout(outer, channels, inner, dtype); }
};

absl::StatusOr<SumsProblem> SumsProblemOf(const PrepareContext& p) {
  const Shape& x = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const ChannelAxes channels, ChannelAxesOf(p.attrs(), x.rank()));
  SumsProblem problem;
  problem.outer = Product(x, 0, channels.begin);
  problem.channels = Product(x, channels.begin, channels.end);
  problem.inner = Product(x, channels.end, x.rank());
  problem.dtype = p.input_dtype(0);
  problem.threads = p.services().threads;
  const std::string activation = p.attrs().String("activation", "Identity");
  // op names: values of the attribute.
  if (activation != "Identity" && activation != "Relu" && activation != "Relu6") {
    return InvalidArgument("activation must be Identity, Relu or Relu6, but is ", activation);
  }
  problem.gated = activation != "Identity";
  if (activation == "Relu6") problem.gate_limit = std::nextafter(6.0f, 0.0f);
  return problem;
}

// Calls f(channel, element) for each element.
template <typename F>
void ForElements(const SumsProblem& p, F f) {
  for (int64_t o = 0; o < p.outer; ++o) {
    for (int64_t c = 0; c < p.channels; ++c) {
      const int64_t first = (o * p.channels + c) * p.inner;
      for (int64_t i = first; i < first + p.inner; ++i) f(static_cast<size_t>(c), i);
    }
  }
}

class StatisticsKernel : public Kernel {
 public:
  explicit StatisticsKernel(const SumsProblem& problem)
      : problem_(problem), layout_(problem.Layout()), loops_(layout_.Loops()) {}
  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 protected:
  void Store(const std::vector<double>& values, float* to) const {
    for (const double v : values) *to++ = static_cast<float>(v);
  }
  const SumsProblem problem_;
  const ChannelLayout layout_;
  const BatchNormLoops loops_;
};

class MomentsKernel final : public StatisticsKernel {
 public:
  using StatisticsKernel::StatisticsKernel;
  absl::Status Run(RunContext& r) const override {
    const ChannelMoments moments = MomentsOf(layout_, loops_, problem_.threads, r.input(0),
                                             ChannelScratch(layout_, r.scratch()));
    Store(moments.mean, r.output<float>(0));
    Store(moments.variance, r.output<float>(1));
    return absl::OkStatus();
  }
};

class GradientSumsKernel final : public StatisticsKernel {
 public:
  using StatisticsKernel::StatisticsKernel;
  absl::Status Run(RunContext& r) const override {
    const ChannelScratch scratch(layout_, r.scratch());
    std::fill_n(scratch.operand(0), layout_.operands(), 0.0f);
    BatchNormPiece whole;
    whole.dy = r.input(0);
    whole.x = r.input(1);
    if (problem_.gated) whole.gate = r.input(2);
    whole.gate_limit = problem_.gate_limit;
    const ChannelSums sums = GradientSumsOf(layout_, loops_, problem_.threads, whole, scratch);
    Store(sums.sum, r.output<float>(0));
    Store(sums.product, r.output<float>(1));
    return absl::OkStatus();
  }
};

template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> VectorSums(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const SumsProblem problem, SumsProblemOf(p));
  if (problem.dtype != DType::kFloat) return Unimplemented("only float");
  if (p.input_shape(0).num_elements() == 0) return Unimplemented("empty");
  // The loops for a channel's rows are called for each row.
  if (problem.inner > 1 && problem.inner < kLeastRow) return Unimplemented("short rows");
  p.RequestScratch(ChannelScratch::Bytes(problem.Layout()));
  return std::unique_ptr<Kernel>(std::make_unique<K>(problem));
}

}  // namespace

absl::StatusOr<ChannelAxes> ChannelAxesOf(const AttrReader& attrs, int rank) {
  TENON_ASSIGN_OR_RETURN(const int64_t begin, attrs.Int("begin"));
  TENON_ASSIGN_OR_RETURN(const int64_t end, attrs.Int("end"));
  if (begin < 0 || end < begin || end > rank) {
    return InvalidArgument("channels must be axes of a tensor of rank ", rank, ", not [", begin,
                           ", ", end, ")");
  }
  return ChannelAxes{static_cast<int>(begin), static_cast<int>(end)};
}

absl::StatusOr<std::unique_ptr<Kernel>> ChannelMomentsReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const SumsProblem problem, SumsProblemOf(p));
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([problem](RunContext& r) {
      const T* x = r.input<T>(0);
      const size_t channels = static_cast<size_t>(problem.channels);
      const double n = static_cast<double>(problem.outer * problem.inner);
      std::vector<double> mean(channels), squares(channels);
      ForElements(problem, [&](size_t c, int64_t i) { mean[c] += static_cast<double>(x[i]); });
      for (double& m : mean) m /= n;
      ForElements(problem, [&](size_t c, int64_t i) {
        const double d = static_cast<double>(x[i]) - mean[c];
        squares[c] += d * d;
      });
      for (size_t c = 0; c < channels; ++c) {
        r.output<T>(0)[c] = static_cast<T>(mean[c]);
        r.output<T>(1)[c] = static_cast<T>(squares[c] / n);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ChannelGradientSumsReference(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const SumsProblem problem, SumsProblemOf(p));
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([problem](RunContext& r) {
      const T *gradient = r.input<T>(0), *x = r.input<T>(1), *features = r.input<T>(2);
      const size_t channels = static_cast<size_t>(problem.channels);
      std::vector<double> sum(channels), product(channels);
      ForElements(problem, [&](size_t c, int64_t i) {
        double g = static_cast<double>(gradient[i]);
        if (problem.gated) {
          const double f = static_cast<double>(features[i]);
          g *= f > 0 && f <= static_cast<double>(problem.gate_limit) ? 1 : 0;
        }
        sum[c] += g;
        product[c] += g * static_cast<double>(x[i]);
      });
      for (size_t c = 0; c < channels; ++c) {
        r.output<T>(0)[c] = static_cast<T>(sum[c]);
        r.output<T>(1)[c] = static_cast<T>(product[c]);
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ChannelMomentsVector(PrepareContext& p) {
  return VectorSums<MomentsKernel>(p);
}

absl::StatusOr<std::unique_ptr<Kernel>> ChannelGradientSumsVector(PrepareContext& p) {
  return VectorSums<GradientSumsKernel>(p);
}

}  // namespace tenon
