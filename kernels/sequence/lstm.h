// One step of an LSTM, or all of its steps, in one kernel. Every step's gates are outputs, because
// a gradient needs them. float and half.
#ifndef TENON_KERNELS_SEQUENCE_LSTM_H_
#define TENON_KERNELS_SEQUENCE_LSTM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs; the kernels over all steps have the number of valid steps before x.
inline constexpr int kLstmX = 0, kLstmCsPrev = 1, kLstmHPrev = 2, kLstmW = 3, kLstmWci = 4,
                     kLstmWcf = 5, kLstmWco = 6, kLstmB = 7, kLstmInputs = 8;
// Outputs i, cs, f, o, ci, co, h.
inline constexpr int kLstmOutputs = 7;

// One step; all steps; all steps with the gates in w's columns in the order input, forget, cell,
// output (otherwise input, cell, forget, output) and without a forget_bias.
enum class LstmForm { kStep, kSteps, kStepsV2 };

// The position of x among the inputs.
constexpr int LstmFirst(LstmForm form) { return form == LstmForm::kStep ? 0 : 1; }

struct LstmAttrs {
  float forget_bias = 0, cell_clip = 0;  // a clip of 0 is none
  bool peephole = false;
  int input_gate = 0, cell_gate = 1, forget_gate = 2, output_gate = 3;  // column positions in w
};
LstmAttrs ReadLstmAttrs(const AttrReader& attrs, LstmForm form);

// The number of valid steps. InvalidArgument if it is out of range.
absl::StatusOr<int64_t> LstmLength(const RunContext& run, int first, int64_t steps);

// x is [batch, features], or [steps, batch, features]; outputs are [batch, cell], for each step.
// Attributes forget_bias, cell_clip, use_peephole. InvalidArgument at Run for a number of steps out
// of range.
absl::StatusOr<std::unique_ptr<Kernel>> Lstm(PrepareContext& p, LstmForm form);

// The same in vector code. Unimplemented for half, and if something is empty.
absl::StatusOr<std::unique_ptr<Kernel>> LstmVector(PrepareContext& p, LstmForm form);

// As kernel factories.
template <LstmForm kForm>
absl::StatusOr<std::unique_ptr<Kernel>> Lstm(PrepareContext& p) {
  return Lstm(p, kForm);
}
template <LstmForm kForm>
absl::StatusOr<std::unique_ptr<Kernel>> LstmVector(PrepareContext& p) {
  return LstmVector(p, kForm);
}

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_LSTM_H_
