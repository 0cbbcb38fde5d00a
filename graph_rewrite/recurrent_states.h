// Sorts the states of a recurrent loop, and takes off the masks of its states and results.
#ifndef TENON_GRAPH_REWRITE_RECURRENT_STATES_H_
#define TENON_GRAPH_REWRITE_RECURRENT_STATES_H_

#include <vector>

#include "absl/status/status.h"
#include "graph_rewrite/recurrent_cell.h"

namespace tenon {

struct RecurrentStates {
  std::vector<int> of_cells;     // loop variables: the states that some cell reads
  std::vector<ExprId> unmasked;  // of each loop variable: a state's new value without its mask
  ExprId result = -1;            // what each step writes, likewise; -1: nothing

  ExprId next(int variable) const { return unmasked[static_cast<size_t>(variable)]; }
};

// Sets what `stack` says of results and masks. FailedPrecondition with the reason if the masks are
// not those of recurrent layers.
absl::StatusOr<RecurrentStates> ReadRecurrentStates(const RecurrentLoop& loop,
                                                    RecurrentStack& stack);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RECURRENT_STATES_H_
