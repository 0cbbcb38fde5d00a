#include "ops/control/branch.h"

#include <string>

#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {

bool IsTrue(const Tensor& t) {
  if (t.shape().rank() > 0) return t.num_elements() > 0;
  if (t.dtype() == DType::kBool) return *t.data<bool>();
  if (t.dtype() == DType::kString) return !t.data<std::string>()->empty();
  bool truth = false;
  VisitTypes(NumbersAndBool{}, t.dtype(), [&]<typename T>() { truth = *t.data<T>() != T(0); });
  return truth;
}

std::vector<const FuncRef*> BranchesOf(const Node& node) {
  const ControlFlow flow = FactsOf(node.op).control_flow;
  if (flow == ControlFlow::kIf) {
    return {node.attr<FuncRef>("then_branch"), node.attr<FuncRef>("else_branch")};
  }
  std::vector<const FuncRef*> functions;
  const auto* list = node.attr<std::vector<FuncRef>>("branches");
  if (flow != ControlFlow::kCase || list == nullptr) return functions;
  for (const FuncRef& f : *list) functions.push_back(&f);
  return functions;
}

int ChosenBranch(const Node& node, const Tensor& selector) {
  const ControlFlow flow = FactsOf(node.op).control_flow;
  if (flow == ControlFlow::kIf) return IsTrue(selector) ? 0 : 1;
  if (flow != ControlFlow::kCase || selector.num_elements() != 1 ||
      selector.dtype() != DType::kInt32) {
    return -1;
  }
  return BranchOf(*selector.data<int32_t>(), static_cast<int>(BranchesOf(node).size()));
}

}  // namespace tenon
