// How a control-flow op chooses the function that it calls.
#ifndef TENON_OPS_CONTROL_BRANCH_H_
#define TENON_OPS_CONTROL_BRANCH_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace tenon {

// TensorFlow's definition of truth: a scalar that is not zero or empty, or another tensor that has
// elements.
bool IsTrue(const Tensor& t);

// The branch of a Case: the last one also for numbers that no branch has.
inline int BranchOf(int32_t index, int branches) {
  return index < 0 || index >= branches ? branches - 1 : index;
}

// The functions that an If (then, else) or a Case names; null where the attribute is absent. Empty
// for other ops.
std::vector<const FuncRef*> BranchesOf(const Node& node);

// The branch that an If or a Case chooses by its first input's value; -1 if that is an error, which
// the run reports.
int ChosenBranch(const Node& node, const Tensor& selector);

}  // namespace tenon

#endif  // TENON_OPS_CONTROL_BRANCH_H_
