// Recognizes the cells that a recurrent loop computes: LSTM, GRU or simple, with their variants,
// from the expressions of their new states. Operands may come in any order, and weights in any
// columns.
#ifndef TENON_GRAPH_REWRITE_RECURRENT_CELL_H_
#define TENON_GRAPH_REWRITE_RECURRENT_CELL_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/recurrent_loop.h"

namespace tenon {

struct RecurrentCellForm {
  // The sum that a gate's activation gets: products of the input and of the state, and constants.
  struct Gate {
    std::vector<std::pair<int64_t, ConstantBlock>> x;  // with the first column of the input
    std::vector<ConstantBlock> h;
    std::vector<std::pair<bool, ConstantBlock>> bias;  // true: subtracted
    double number = 0;
  };

  std::string cell;  // as in _Recurrence
  std::vector<std::string> activations;
  double alpha = 0, beta = 0;  // of hard sigmoids; 0: there are none
  int64_t units = 0;
  int64_t width = 0;   // of h: units, unless there is a projection
  int h = -1, c = -1;  // loop variables
  // The list of inputs: a loop variable. Or the new states of the cell before.
  static constexpr int kCellBefore = -2;
  int input = -1;
  std::vector<Gate> gates;                    // in the order of _Recurrence
  Gate candidate;                             // gru: what the reset gate scales
  ConstantBlock peepholes[3];                 // lstm
  ConstantBlock projection;                   // lstm: [units, width]; none: no tensor
  double cell_clip = 0, projection_clip = 0;  // lstm: limits of magnitude; 0: none
};

struct RecurrentStack {
  std::vector<RecurrentCellForm> cells;  // each takes the new states of the one before it
  int results = -1;                      // the list of the last cell's results: a loop variable
  int held = -1;                         // the state that repeats results where they are masked
  int mask = -1;           // a loop variable: a list, or a vector of the sequences' lengths
  bool by_length = false;  // the latter
  bool zero_masked = false;
};

// FailedPrecondition with the reason if they are no such cells.
absl::StatusOr<RecurrentStack> FindRecurrentCells(const RecurrentLoop& loop);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RECURRENT_CELL_H_
