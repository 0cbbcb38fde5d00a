// The gates of one step of LSTM and GRU cells all of whose gates are results, in vector code, from
// the products of the step's input and state with their weights.
#ifndef TENON_KERNELS_SEQUENCE_CELLS_SIMD_H_
#define TENON_KERNELS_SEQUENCE_CELLS_SIMD_H_

#include <cstddef>

namespace tenon {

// The rows of a step, and the units of the cell that a call computes.
struct CellPart {
  size_t rows = 0, cell = 0;
  size_t begin = 0, end = 0;
};

// All results are [rows, cell].
struct LstmGates {
  CellPart part;
  const float *from_x = nullptr, *from_h = nullptr;            // products: [rows, 4 * cell]
  size_t input = 0, candidate = 0, forget = 0, output = 0;     // places in their columns
  const float* bias = nullptr;                                 // [4 * cell]
  float forget_bias = 0, cell_clip = 0;                        // a clip of 0 is none
  const float *wci = nullptr, *wcf = nullptr, *wco = nullptr;  // peepholes [cell], or all null
  const float* cs_prev = nullptr;                              // [rows, cell]
  float *i = nullptr, *cs = nullptr, *f = nullptr, *o = nullptr, *ci = nullptr, *co = nullptr;
  float* h = nullptr;
};

// The first two gates of a GRU, and the state that enters the candidate's product.
struct GruGates {
  CellPart part;
  const float *from_x = nullptr, *from_h = nullptr;  // products: [rows, 2 * cell]
  const float* bias = nullptr;                       // [2 * cell]
  const float* h_prev = nullptr;                     // [rows, cell]
  float *r = nullptr, *u = nullptr, *reset_h = nullptr;
};

// The candidate and the new state.
struct GruState {
  CellPart part;
  const float *from_x = nullptr, *from_h = nullptr;  // products: [rows, cell]
  const float* bias = nullptr;                       // [cell]
  const float *h_prev = nullptr, *u = nullptr;       // [rows, cell]
  float *c = nullptr, *h = nullptr;
};

struct CellCode {
  void (*lstm)(const LstmGates& gates) = nullptr;
  void (*gru_gates)(const GruGates& gates) = nullptr;
  void (*gru_state)(const GruState& state) = nullptr;
};
CellCode FindCellCode();

}  // namespace tenon

#endif  // TENON_KERNELS_SEQUENCE_CELLS_SIMD_H_
