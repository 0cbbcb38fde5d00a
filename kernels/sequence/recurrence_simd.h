// One step of recurrent cells for some rows and units, in vector code: the product with the
// recurrent weights and the gates in one pass, so that the product never leaves the registers.
#ifndef TENON_KERNELS_SEQUENCE_RECURRENCE_SIMD_H_
#define TENON_KERNELS_SEQUENCE_RECURRENCE_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// The gates, in the order of their columns:
//   kLstm            input, forget, cell, output
//   kGru             update, reset, candidate; the reset gate scales the candidate's product
//   kGruResetBefore  the same; the reset gate scales the state before the product
//   kSimple          one
enum class RecurrentCell : uint8_t { kLstm, kGru, kGruResetBefore, kSimple };

enum class GateActivation : uint8_t { kLinear, kSigmoid, kTanh, kRelu, kHardSigmoid };

// One per gate; for an LSTM also the one of the new cell state, at the end.
struct GateActivations {
  GateActivation of[5] = {};
  float alpha = 0.2f, beta = 0.5f;  // kHardSigmoid: alpha * x + beta, limited to 0..1
};

constexpr size_t NumGates(RecurrentCell cell) {
  return cell == RecurrentCell::kLstm ? 4 : cell == RecurrentCell::kSimple ? 1 : 3;
}

struct RecurrentStep {
  RecurrentCell cell = RecurrentCell::kLstm;
  GateActivations activations;
  size_t units = 0, rows = 0;
  size_t width = 0;                   // of h: units, unless there is a projection
  const float* weights = nullptr;     // packed
  const float* x = nullptr;           // the inputs' products: [rows, gates * units]
  size_t x_row = 0;                   // elements from row to row
  const float* h = nullptr;           // [rows, width]
  float* h_next = nullptr;            // [rows, width]
  float* c = nullptr;                 // kLstm: the cell state [rows, units], changed in place
  float* reset_h = nullptr;           // kGruResetBefore: between the two phases, [rows, units]
  float* update = nullptr;            // likewise
  const float* bias = nullptr;        // kGru: of the candidate's product [units]; may be null
  const float* peephole = nullptr;    // kLstm: [3, units], of input, forget, output; may be null
  float cell_clip = 0;                // kLstm: limit of the cell state's magnitude; 0: none
  const float* projection = nullptr;  // kLstm: of the result, packed as kSimple; may be null
  float* unprojected = nullptr;       // with a projection: between the two phases, [rows, units]
  float projection_clip = 0;          // limit of its result's magnitude; 0: none
  float* y = nullptr;                 // the step's results [rows, width]
  const float* y_before = nullptr;    // of the step before; null: zero
  size_t y_row = 0;                   // elements from row to row, of both
  const uint8_t* mask = nullptr;  // of each row, mask_row apart: 0 keeps the states; may be null
  size_t mask_row = 1;
  bool zero_masked = false;               // y is 0 where masked, instead of y_before
  size_t first_block = 0, end_block = 0;  // blocks of `lanes` units; of y's columns in phase 1 of a
                                          // projection
  bool backward = false;                  // from the last block to the first
};

struct RecurrentCode {
  size_t lanes = 0;
  // Phase 1 is only for kGruResetBefore and for projections, after phase 0 is complete for all
  // units.
  void (*step)(const RecurrentStep& step, int phase) = nullptr;
};
RecurrentCode FindRecurrentStep();

// Packed weights are [blocks, width, gates, lanes], with zeros for units that do not exist;
// kGruResetBefore has first those of update and reset, then those of the candidate.
// w: [width, gates * units]. A projection is packed as the weights of kSimple: [units, width].
size_t PackedRecurrentFloats(RecurrentCell cell, size_t width, size_t units, size_t lanes);
void PackRecurrent(RecurrentCell cell, size_t width, size_t units, size_t lanes, const float* w,
                   float* packed);

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_RECURRENCE_SIMD_H_
