// LSTMBlockCellGrad, BlockLSTMGrad, BlockLSTMGradV2: the gradients of one step of an LSTM, or of
// all its steps, from the gates of the forward op.
#include "kernels/sequence/lstm_grad.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <LstmForm form>
absl::Status LstmGradShape(ShapeContext& c) {
  constexpr int first = LstmFirst(form);
  TENON_RETURN_IF_ERROR(c.ExpectRank(first + kLstmX, 2 + first));
  TENON_RETURN_IF_ERROR(c.ExpectRank(first + kLstmCsPrev, 2));
  if (first > 0) TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  const Shape &x = c.input(first + kLstmX), &state = c.input(first + kLstmCsPrev);
  if (!x.has_rank() || !state.has_rank()) return absl::OkStatus();
  const int64_t batch = x.dim(first), features = x.dim(first + 1), cell = state.dim(1);
  if (cell > (int64_t{1} << 60)) return InvalidArgument("a cell of ", cell, " units");
  const int64_t gates = cell < 0 ? -1 : 4 * cell;
  const Shape w({cell < 0 || features < 0 ? -1 : features + cell, gates});
  const Shape each = first > 0 ? Shape({x.dim(0), batch, cell}) : Shape({batch, cell});
  const bool peephole = c.attrs().Bool("use_peephole", false);
  for (int i = first + kLstmCsPrev; i < c.num_inputs(); ++i) {
    const int k = i - first;
    const Shape wanted = k <= kLstmHPrev ? Shape({batch, cell})
                         : k == kLstmW   ? w
                         : k == kLstmB   ? Shape({gates})
                         : k <= kLstmWco ? Shape({cell})
                                         : each;
    if (k >= kLstmWci && k <= kLstmWco && first == 0 && !peephole) continue;
    if (wanted.CompatibleWith(c.input(i))) continue;
    return InvalidArgument("input ", i, " has shape ", c.input(i).ToString(), ", but must have ",
                           wanted.ToString());
  }
  if (form == LstmForm::kStep) {
    c.set_output(0, state);
    c.set_output(1, Shape({batch, gates}));
    for (int i = 0; i < 3; ++i) c.set_output(2 + i, c.input(kLstmWci + i));
    return absl::OkStatus();
  }
  const Shape outputs[] = {x,
                           state,
                           c.input(first + kLstmHPrev),
                           w,
                           Shape({cell}),
                           Shape({cell}),
                           Shape({cell}),
                           Shape({gates})};
  for (int i = 0; i < 8; ++i) c.set_output(i, outputs[i]);
  return absl::OkStatus();
}

const OpRegistration lstm_block_cell_grad({
    .name = "LSTMBlockCellGrad",
    .inputs = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, "
              "o: T, ci: T, co: T, cs_grad: T, h_grad: T",
    .outputs = "cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T",
    .attrs = "use_peephole: bool; T: type",
    .types = "T: half float",
    .shape = LstmGradShape<LstmForm::kStep>,
    .reference = LstmStepGrad,
    .error_bound = ErrorBound::kLstmCell,
});

constexpr OpRow kBlockGrad = {
    .name = "BlockLSTMGrad",
    .inputs =
        "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, "
        "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T",
    .outputs =
        "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, "
        "wco_grad: T, b_grad: T",
    .attrs = "use_peephole: bool; T: type",
    .types = "T: half float",
    .shape = LstmGradShape<LstmForm::kSteps>,
    .reference = LstmGrad<LstmForm::kSteps>,
    .accelerated = LstmGradVector<LstmForm::kSteps>,
    .native = "_MklNativeBlockLSTMGrad",
    .native_types = "half float",
    .error_bound = ErrorBound::kLstmSteps,
};
const OpRegistration block_lstm_grad(kBlockGrad);
const OpRegistration block_lstm_grad_v2([] {
  OpRow row = kBlockGrad;
  row.name = "BlockLSTMGradV2";
  row.reference = LstmGrad<LstmForm::kStepsV2>;
  row.accelerated = LstmGradVector<LstmForm::kStepsV2>;
  row.native = "_MklNativeBlockLSTMGradV2";
  return row;
}());

}  // namespace
}  // namespace tenon
