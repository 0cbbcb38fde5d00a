#include <cmath>
#include <limits>

#include "env/status.h"
#include "kernels/attention/attention.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using Kind = AttentionStep::Kind;
using Offsets = std::array<int64_t, kMaxAttentionInputs + 1>;

template <typename T>
double Stepped(const AttentionStep& step, double t, const RunContext& r, int64_t at) {
  if (step.selects()) {
    const bool keep = r.input<bool>(step.input)[at] == (step.kind == Kind::kSelect);
    return keep ? t : static_cast<double>(step.value);
  }
  if (step.kind == Kind::kScale) return t * static_cast<double>(step.value);
  if (step.kind == Kind::kTanh) return std::tanh(t);
  const double mask = static_cast<double>(r.input<T>(step.input)[at]);
  return step.kind == Kind::kAdd ? t + mask : step.kind == Kind::kSubtract ? t - mask : t * mask;
}

template <typename T>
void Row(const AttentionProblem& p, const RunContext& r, const Offsets& at,
         std::vector<double>& t) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t k = 0; k < p.keys.extent; ++k) {
    const T* q = r.input<T>(0) + at[0];
    const T* key = r.input<T>(1) + at[1] + k * p.keys.stride[1];
    double score = 0;
    for (int64_t d = 0; d < p.depth; ++d) {
      score += static_cast<double>(q[d * p.q_depth]) * static_cast<double>(key[d * p.k_depth]);
    }
    score *= static_cast<double>(p.scale);
    for (const AttentionStep& step : p.steps) {
      const size_t i = static_cast<size_t>(std::max(step.input, 0));
      score = Stepped<T>(step, score, r, at[i] + k * p.keys.stride[i]);
    }
    t[static_cast<size_t>(k)] = score;
    largest = std::max(largest, score);
  }
  for (double& v : t) sum += v = std::exp(v - largest);
  const bool hidden = largest <= static_cast<double>(p.zero_up_to);
  T* out = r.output<T>(0) + at[AttentionDim::kOut];
  for (int64_t e = 0; e < p.width; ++e) {
    double y = 0;
    for (int64_t k = 0; k < p.keys.extent; ++k) {
      y += t[static_cast<size_t>(k)] / sum *
           static_cast<double>(r.input<T>(2)[at[2] + k * p.keys.stride[2] + e * p.v_width]);
    }
    out[e * p.out_width] = static_cast<T>(hidden ? 0 : y);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> AttentionReference(PrepareContext& context) {
  TENON_ASSIGN_OR_RETURN(const AttentionSpec spec, ParseAttention(context.attrs()));
  std::vector<Shape> inputs;
  for (int i = 0; i < context.num_inputs(); ++i) inputs.push_back(context.input_shape(i));
  TENON_ASSIGN_OR_RETURN(const AttentionProblem p,
                         MakeAttentionProblem(spec, inputs, context.output_shape(0)));
  const bool empty = context.output_shape(0).num_elements() == 0;
  return DispatchType(Floats{}, context.output_dtype(0), [&]<typename T>() {
    return MakeKernel([p, empty](RunContext& r) {
      std::vector<double> t(static_cast<size_t>(p.keys.extent));
      for (int64_t b = 0; !empty && b < p.batches(); ++b) {
        Offsets at{p.offset[0], p.offset[1], p.offset[2]};
        p.Locate(b, at);
        for (int64_t row = 0; row < p.rows.extent; ++row) {
          Row<T>(p, r, at, t);
          for (size_t i = 0; i < at.size(); ++i) at[i] += p.rows.stride[i];
        }
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
