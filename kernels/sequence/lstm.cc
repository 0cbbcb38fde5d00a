#include "kernels/sequence/lstm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Outputs that the next step reads.
constexpr size_t kCs = 1, kH = 6;

struct LstmStep : LstmAttrs {
  int64_t batch = 0, features = 0, cell = 0;
};

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One step. `scratch`: batch * (features + cell + 4 * cell) floats.
template <typename T>
void Step(const LstmStep& l, const std::array<const T*, kLstmInputs>& in,
          const std::array<T*, kLstmOutputs>& out, float* scratch) {
  const int64_t rows = l.features + l.cell, cols = 4 * l.cell;
  float* joined = scratch;
  for (int64_t b = 0; b < l.batch; ++b) {
    for (int64_t k = 0; k < l.features; ++k) *joined++ = ToCompute(in[kLstmX][b * l.features + k]);
    for (int64_t k = 0; k < l.cell; ++k) *joined++ = ToCompute(in[kLstmHPrev][b * l.cell + k]);
  }
  Eigen::Map<const Matrix<float>> xh(scratch, l.batch, rows);
  Eigen::Map<Matrix<float>> gates(scratch + l.batch * rows, l.batch, cols);
  Eigen::Map<const Matrix<T>> w(in[kLstmW], rows, cols);
  gates.noalias() = xh * w.template cast<float>();
  const float clip = l.cell_clip;
  for (int64_t b = 0; b < l.batch; ++b) {
    auto gate = [&](int place, int64_t k) {
      const int64_t column = place * l.cell + k;
      return gates(b, column) + ToCompute(in[kLstmB][column]);
    };
    for (int64_t k = 0; k < l.cell; ++k) {
      const int64_t at = b * l.cell + k;
      const float before = ToCompute(in[kLstmCsPrev][at]);
      auto peep = [&](int weights, float state) {
        return l.peephole ? state * ToCompute(in[static_cast<size_t>(weights)][k]) : 0.0f;
      };
      const float i = Sigmoid(gate(l.input_gate, k) + peep(kLstmWci, before));
      const float ci = std::tanh(gate(l.cell_gate, k));
      const float f = Sigmoid(gate(l.forget_gate, k) + l.forget_bias + peep(kLstmWcf, before));
      float cs = i * ci + f * before;
      if (clip > 0) cs = std::min(std::max(cs, -clip), clip);
      const float co = std::tanh(cs);
      const float o = Sigmoid(gate(l.output_gate, k) + peep(kLstmWco, cs));
      const float values[kLstmOutputs] = {i, cs, f, o, ci, co, o * co};
      for (size_t j = 0; j < kLstmOutputs; ++j) out[j][at] = static_cast<T>(values[j]);
    }
  }
}

}  // namespace

LstmAttrs ReadLstmAttrs(const AttrReader& attrs, LstmForm form) {
  const bool v2 = form == LstmForm::kStepsV2;
  LstmAttrs a;
  a.forget_bias = v2 ? 0 : attrs.Float("forget_bias", 1);
  a.cell_clip = attrs.Float("cell_clip", v2 ? 0 : 3);
  a.peephole = attrs.Bool("use_peephole", false);
  if (v2) std::swap(a.cell_gate, a.forget_gate);
  return a;
}

absl::StatusOr<int64_t> LstmLength(const RunContext& run, int first, int64_t steps) {
  const int64_t length = first > 0 ? *run.input<int64_t>(0) : 1;
  if (length >= 0 && length <= steps) return length;
  return InvalidArgument("seq_len_max must be 0 to ", steps, ", but is ", length);
}

absl::StatusOr<std::unique_ptr<Kernel>> Lstm(PrepareContext& p, LstmForm form) {
  const int first = LstmFirst(form);
  const Shape x = p.input_shape(first);
  LstmStep lstm;
  static_cast<LstmAttrs&>(lstm) = ReadLstmAttrs(p.attrs(), form);
  lstm.batch = x.dim(first);
  lstm.features = x.dim(first + 1);
  lstm.cell = p.input_shape(first + kLstmCsPrev).dim(1);
  const int64_t steps = first > 0 ? x.dim(0) : 1;
  const int64_t floats = Shape({lstm.batch, lstm.features + 5 * lstm.cell}).num_elements();
  p.RequestScratch(static_cast<size_t>(floats) * sizeof(float));
  return DispatchType(TypeList<float, half>{}, p.input_dtype(first), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const int64_t length, LstmLength(run, first, steps));
      std::array<const T*, kLstmInputs> in;
      std::array<T*, kLstmOutputs> out;
      for (int i = 0; i < kLstmInputs; ++i) in[static_cast<size_t>(i)] = run.input<T>(first + i);
      for (int i = 0; i < kLstmOutputs; ++i) out[static_cast<size_t>(i)] = run.output<T>(i);
      const int64_t size = lstm.batch * lstm.cell;
      if (size == 0) return absl::OkStatus();
      for (int64_t t = 0; t < length; ++t) {
        Step<T>(lstm, in, out, static_cast<float*>(run.scratch()));
        in[kLstmX] += lstm.batch * lstm.features;
        in[kLstmCsPrev] = out[kCs];
        in[kLstmHPrev] = out[kH];
        for (T*& o : out) o += size;
      }
      for (T* o : out) std::fill_n(o, (steps - length) * size, T(0));
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
