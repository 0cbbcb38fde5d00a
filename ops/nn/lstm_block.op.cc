// LSTMBlockCell, BlockLSTM, BlockLSTMV2: one step of an LSTM, or all of its steps, in one op. Every
// step's gates are outputs, because a gradient needs them.
#include "kernels/sequence/lstm.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <LstmForm form>
absl::Status LstmShape(ShapeContext& c) {
  constexpr int first = LstmFirst(form);
  constexpr int ranks[kLstmInputs] = {2 + first, 2, 2, 2, 1, 1, 1, 1};
  if (first > 0) TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  for (int i = 0; i < kLstmInputs; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(first + i, ranks[i]));
  auto dim = [&c](int i, int d) {
    return c.input(first + i).has_rank() ? c.input(first + i).dim(d) : -1;
  };
  const int64_t steps = first > 0 ? dim(kLstmX, 0) : 1;
  int64_t batch = dim(kLstmX, first), cell = dim(kLstmCsPrev, 1);
  const int64_t features = dim(kLstmX, first + 1);
  if (batch < 0) batch = dim(kLstmCsPrev, 0);
  if (cell < 0 && dim(kLstmW, 1) >= 0) cell = dim(kLstmW, 1) / 4;
  if (cell > (int64_t{1} << 60)) return InvalidArgument("a cell of ", cell, " units");
  const int64_t gates = cell < 0 ? -1 : 4 * cell;
  const int64_t rows = cell < 0 || features < 0 ? -1 : features + cell;
  const Shape wanted[kLstmInputs] = {
      c.input(first), Shape({batch, cell}), Shape({batch, cell}), Shape({rows, gates}),
      Shape({cell}),  Shape({cell}),        Shape({cell}),        Shape({gates})};
  const bool peephole = c.attrs().Bool("use_peephole", false);
  for (int i = 1; i < kLstmInputs; ++i) {
    // A single step ignores peephole weights that it does not use.
    if (first == 0 && !peephole && i >= kLstmWci && i <= kLstmWco) continue;
    if (wanted[i].CompatibleWith(c.input(first + i))) continue;
    return InvalidArgument("input ", first + i, " has shape ", c.input(first + i).ToString(),
                           ", but must have ", wanted[i].ToString());
  }
  if (first == 0 && (batch == 0 || cell == 0)) return InvalidArgument("cs_prev is empty");
  const Shape out = first > 0 ? Shape({steps, batch, cell}) : Shape({batch, cell});
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  for (int i = 0; i < kLstmOutputs; ++i) c.set_output(i, out);
  return absl::OkStatus();
}

const OpRegistration lstm_block_cell({
    .name = "LSTMBlockCell",
    .inputs = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T",
    .outputs = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    .attrs = "forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; "
             "T: type",
    .types = "T: half float",
    .shape = LstmShape<LstmForm::kStep>,
    .reference = Lstm<LstmForm::kStep>,
    .accelerated = LstmVector<LstmForm::kStep>,
    .native = "_MklNativeLSTMBlockCell",
    .error_bound = ErrorBound::kLstmCell,
});

const OpRegistration block_lstm({
    .name = "BlockLSTM",
    .inputs = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T",
    .outputs = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    .attrs = "forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; "
             "T: type",
    .types = "T: half float",
    .shape = LstmShape<LstmForm::kSteps>,
    .reference = Lstm<LstmForm::kSteps>,
    .accelerated = LstmVector<LstmForm::kSteps>,
    .native = "_MklNativeBlockLSTM",
    .error_bound = ErrorBound::kLstmSteps,
});

const OpRegistration block_lstm_v2({
    .name = "BlockLSTMV2",
    .inputs = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T",
    .outputs = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    .attrs = "cell_clip: float = 0.0; use_peephole: bool = false; T: type",
    .types = "T: half float",
    .shape = LstmShape<LstmForm::kSteps>,
    .reference = Lstm<LstmForm::kStepsV2>,
    .accelerated = LstmVector<LstmForm::kStepsV2>,
    .native = "_MklNativeBlockLSTMV2",
    .error_bound = ErrorBound::kLstmSteps,
});

}  // namespace
}  // namespace tenon
