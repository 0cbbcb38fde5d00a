// Recognizes the cell that a recurrent loop computes: LSTM, GRU or simple, with their variants,
// from the expressions of its new states. Operands may come in any order, and weights in any
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
  int h = -1, c = -1;          // loop variables
  int input = -1;              // the list of inputs: a loop variable
  std::vector<Gate> gates;     // in the order of _Recurrence
  Gate candidate;              // gru: what the reset gate scales
  ConstantBlock peepholes[3];  // lstm
  int results = -1;            // the list of results: a loop variable
  int held = -1;               // the state that repeats results where they are masked
  int mask = -1;               // a list: a loop variable
  bool zero_masked = false;
};

// FailedPrecondition with the reason if it is no such cell.
absl::StatusOr<RecurrentCellForm> FindRecurrentCell(const RecurrentLoop& loop);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RECURRENT_CELL_H_
