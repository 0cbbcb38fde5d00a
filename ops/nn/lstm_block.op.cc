// LSTMBlockCell, BlockLSTM, BlockLSTMV2: an LSTM's step, or all of its steps, in one op. Every
// step's gates are outputs, as a gradient needs them.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs, counted from x: the ops over all steps have seq_len_max before it.
constexpr int kX = 0, kCsPrev = 1, kHPrev = 2, kW = 3, kWci = 4, kWcf = 5, kWco = 6, kB = 7;
constexpr int kInputs = 8;
// Outputs.
constexpr int kI = 0, kCs = 1, kF = 2, kO = 3, kCi = 4, kCo = 5, kH = 6, kOutputs = 7;

template <int first>
absl::Status LstmShape(ShapeContext& c) {
  constexpr int ranks[kInputs] = {2 + first, 2, 2, 2, 1, 1, 1, 1};
  if (first > 0) TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  for (int i = 0; i < kInputs; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(first + i, ranks[i]));
  auto dim = [&c](int i, int d) {
    return c.input(first + i).has_rank() ? c.input(first + i).dim(d) : -1;
  };
  const int64_t steps = first > 0 ? dim(kX, 0) : 1;
  int64_t batch = dim(kX, first), cell = dim(kCsPrev, 1);
  const int64_t features = dim(kX, first + 1);
  if (batch < 0) batch = dim(kCsPrev, 0);
  if (cell < 0 && dim(kW, 1) >= 0) cell = dim(kW, 1) / 4;
  if (cell > (int64_t{1} << 60)) return InvalidArgument("a cell of ", cell, " units");
  const int64_t gates = cell < 0 ? -1 : 4 * cell;
  const int64_t rows = cell < 0 || features < 0 ? -1 : features + cell;
  const Shape wanted[kInputs] = {c.input(first),       Shape({batch, cell}), Shape({batch, cell}),
                                 Shape({rows, gates}), Shape({cell}),        Shape({cell}),
                                 Shape({cell}),        Shape({gates})};
  const bool peephole = c.attrs().Bool("use_peephole", false);
  for (int i = 1; i < kInputs; ++i) {
    // A single step does not look at peephole weights that it does not use.
    if (first == 0 && !peephole && i >= kWci && i <= kWco) continue;
    if (wanted[i].CompatibleWith(c.input(first + i))) continue;
    return InvalidArgument("input ", first + i, " has shape ", c.input(first + i).ToString(),
                           ", but must have ", wanted[i].ToString());
  }
  if (first == 0 && (batch == 0 || cell == 0)) return InvalidArgument("cs_prev is empty");
  const Shape out = first > 0 ? Shape({steps, batch, cell}) : Shape({batch, cell});
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  for (int i = 0; i < kOutputs; ++i) c.set_output(i, out);
  return absl::OkStatus();
}

struct Lstm {
  int64_t batch, features, cell;
  float forget_bias, cell_clip;
  bool peephole;
  int input_gate, cell_gate, forget_gate, output_gate;  // places in w's columns
};

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One step. `scratch`: batch * (features + cell + 4 * cell) floats.
template <typename T>
void Step(const Lstm& l, const std::array<const T*, kInputs>& in,
          const std::array<T*, kOutputs>& out, float* scratch) {
  const int64_t rows = l.features + l.cell, cols = 4 * l.cell;
  float* joined = scratch;
  for (int64_t b = 0; b < l.batch; ++b) {
    for (int64_t k = 0; k < l.features; ++k) *joined++ = ToCompute(in[kX][b * l.features + k]);
    for (int64_t k = 0; k < l.cell; ++k) *joined++ = ToCompute(in[kHPrev][b * l.cell + k]);
  }
  Eigen::Map<const Matrix<float>> xh(scratch, l.batch, rows);
  Eigen::Map<Matrix<float>> gates(scratch + l.batch * rows, l.batch, cols);
  Eigen::Map<const Matrix<T>> w(in[kW], rows, cols);
  gates.noalias() = xh * w.template cast<float>();
  const float clip = l.cell_clip;
  for (int64_t b = 0; b < l.batch; ++b) {
    auto gate = [&](int place, int64_t k) {
      const int64_t column = place * l.cell + k;
      return gates(b, column) + ToCompute(in[kB][column]);
    };
    for (int64_t k = 0; k < l.cell; ++k) {
      const int64_t at = b * l.cell + k;
      const float before = ToCompute(in[kCsPrev][at]);
      auto peep = [&](int weights, float state) {
        return l.peephole ? state * ToCompute(in[static_cast<size_t>(weights)][k]) : 0.0f;
      };
      const float i = Sigmoid(gate(l.input_gate, k) + peep(kWci, before));
      const float ci = std::tanh(gate(l.cell_gate, k));
      const float f = Sigmoid(gate(l.forget_gate, k) + l.forget_bias + peep(kWcf, before));
      float cs = i * ci + f * before;
      if (clip > 0) cs = std::min(std::max(cs, -clip), clip);
      const float co = std::tanh(cs);
      const float o = Sigmoid(gate(l.output_gate, k) + peep(kWco, cs));
      const float values[kOutputs] = {i, cs, f, o, ci, co, o * co};
      for (size_t j = 0; j < kOutputs; ++j) out[j][at] = static_cast<T>(values[j]);
    }
  }
}

template <int first>
absl::StatusOr<std::unique_ptr<Kernel>> Prepare(PrepareContext& p) {
  const Shape x = p.input_shape(first);
  const bool v2 = p.node().op == "BlockLSTMV2";
  const Lstm lstm = {x.dim(first),
                     x.dim(first + 1),
                     p.input_shape(first + kCsPrev).dim(1),
                     v2 ? 0 : p.attrs().Float("forget_bias", 1),
                     p.attrs().Float("cell_clip", v2 ? 0 : 3),
                     p.attrs().Bool("use_peephole", false),
                     0,
                     v2 ? 2 : 1,
                     v2 ? 1 : 2,
                     3};
  const int64_t steps = first > 0 ? x.dim(0) : 1;
  const int64_t floats = Shape({lstm.batch, lstm.features + 5 * lstm.cell}).num_elements();
  p.RequestScratch(static_cast<size_t>(floats) * sizeof(float));
  return DispatchType(TypeList<float, half>{}, p.input_dtype(first), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const int64_t length = first > 0 ? *run.input<int64_t>(0) : 1;
      if (length < 0 || length > steps) {
        return InvalidArgument("seq_len_max must be 0 to ", steps, ", but is ", length);
      }
      std::array<const T*, kInputs> in;
      std::array<T*, kOutputs> out;
      for (int i = 0; i < kInputs; ++i) in[static_cast<size_t>(i)] = run.input<T>(first + i);
      for (int i = 0; i < kOutputs; ++i) out[static_cast<size_t>(i)] = run.output<T>(i);
      const int64_t size = lstm.batch * lstm.cell;
      if (size == 0) return absl::OkStatus();
      for (int64_t t = 0; t < length; ++t) {
        Step<T>(lstm, in, out, static_cast<float*>(run.scratch()));
        in[kX] += lstm.batch * lstm.features;
        in[kCsPrev] = out[kCs];
        in[kHPrev] = out[kH];
        for (T*& o : out) o += size;
      }
      for (T* o : out) std::fill_n(o, (steps - length) * size, T(0));
      return absl::OkStatus();
    });
  });
}

const OpRegistration lstm_block_cell({
    .name = "LSTMBlockCell",
    .inputs = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T",
    .outputs = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    .attrs = "forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; "
             "T: type",
    .types = "T: half float",
    .shape = LstmShape<0>,
    .reference = Prepare<0>,
});

const OpRegistration block_lstm({
    .name = "BlockLSTM",
    .inputs = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T",
    .outputs = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    .attrs = "forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; "
             "T: type",
    .types = "T: half float",
    .shape = LstmShape<1>,
    .reference = Prepare<1>,
});

const OpRegistration block_lstm_v2({
    .name = "BlockLSTMV2",
    .inputs = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T",
    .outputs = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    .attrs = "cell_clip: float = 0.0; use_peephole: bool = false; T: type",
    .types = "T: half float",
    .shape = LstmShape<1>,
    .reference = Prepare<1>,
});

}  // namespace
}  // namespace tenon
