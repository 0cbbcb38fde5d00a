#include "runtime/execution/element_call_step.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "env/status.h"
#include "kernels/layout/copy.h"
#include "kernels/xla/element_calls.h"
#include "kernels/xla/elements.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

using RunResult = absl::StatusOr<std::vector<Tensor>>;

RunResult One(absl::StatusOr<Tensor> result) {
  if (!result.ok()) return result.status();
  return std::vector<Tensor>{*std::move(result)};
}

// What an op does with its inputs and its functions; the second is the first if there is only one.
using RunFn = RunResult (*)(const AttrReader& attrs, absl::Span<const Tensor> inputs,
                            ElementFunction first, ElementFunction second);

struct Row {
  ElementCall call;
  RunFn run;
};

RunResult RunReduce(const AttrReader& attrs, absl::Span<const Tensor> inputs, ElementFunction first,
                    ElementFunction second) {
  return ReduceByFunction(attrs, inputs, first);
}
RunResult RunReduceWindow(const AttrReader& attrs, absl::Span<const Tensor> inputs,
                          ElementFunction first, ElementFunction second) {
  return One(ReduceWindowByFunction(inputs, first));
}
RunResult RunSelectAndScatter(const AttrReader& attrs, absl::Span<const Tensor> inputs,
                              ElementFunction first, ElementFunction second) {
  return One(SelectAndScatterByFunction(inputs, first, second));
}
RunResult RunScatter(const AttrReader& attrs, absl::Span<const Tensor> inputs,
                     ElementFunction first, ElementFunction second) {
  return One(ScatterByFunction(attrs, inputs, first));
}
RunResult RunSort(const AttrReader& attrs, absl::Span<const Tensor> inputs, ElementFunction first,
                  ElementFunction second) {
  return SortByFunction(inputs, first);
}

// op names: the ops' rows are in a lower layer, which knows no steps.
const Row* FindRow(absl::string_view op) {
  static const std::vector<Row> kRows = {
      {{"XlaReduce", {{"reducer", true}}}, RunReduce},
      {{"XlaVariadicReduce", {{"reducer", true}}}, RunReduce},
      {{"XlaVariadicReduceV2", {{"reducer", true}}}, RunReduce},
      {{"XlaReduceWindow", {{"computation", true}}}, RunReduceWindow},
      {{"XlaSelectAndScatter", {{"select", false}, {"scatter", true}}}, RunSelectAndScatter},
      {{"XlaScatter", {{"update_computation", true}}}, RunScatter},
      {{"XlaVariadicSort", {{"comparator", false}}}, RunSort},
  };
  if (!absl::StartsWith(op, "Xla")) return nullptr;
  const auto found =
      std::find_if(kRows.begin(), kRows.end(), [op](const Row& row) { return op == row.call.op; });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace

const ElementCall* FindElementCall(absl::string_view op) {
  const Row* row = FindRow(op);
  return row == nullptr ? nullptr : &row->call;
}

absl::Status ElementCallStep::Results(const Execution& run, Calls& calls) const {
  // Shapes that were not known ahead are checked now.
  std::vector<TensorSpec> specs;
  for (const Tensor& t : calls.values) specs.push_back({t.dtype(), t.shape(), &t});
  TENON_RETURN_IF_ERROR(InferOutputs(*FindOp(node_.op).info, node_, specs).status());
  const auto first = [&](absl::Span<const Tensor> a) { return Apply(0, a, run, calls); };
  const auto second = [&](absl::Span<const Tensor> a) {
    return Apply(num_functions() - 1, a, run, calls);
  };
  TENON_ASSIGN_OR_RETURN(calls.results,
                         FindRow(node_.op)->run(AttrReader(node_), calls.values, first, second));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> ElementCallStep::Call(int function,
                                                          absl::Span<const Tensor> arguments,
                                                          const Execution& run,
                                                          Calls& calls) const {
  std::vector<Tensor> given(arguments.begin(), arguments.end()), results;
  TENON_ASSIGN_OR_RETURN(PlanCall * call, CallOf(function, given, {}, run, calls));
  TENON_RETURN_IF_ERROR(call->Run(absl::MakeSpan(given), run.stop, results));
  return results;
}

absl::StatusOr<std::vector<Tensor>> ElementCallStep::Apply(int function,
                                                           absl::Span<const Tensor> arguments,
                                                           const Execution& run,
                                                           Calls& calls) const {
  const Shape whole = arguments[0].shape();
  const int64_t n = whole.num_elements();
  if (vectors_[static_cast<size_t>(function)]) {
    TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, Call(function, arguments, run, calls));
    for (Tensor& t : results) {
      if (t.shape() == whole) continue;
      if (t.shape().rank() != 0) return Internal("a result of shape ", t.shape().ToString());
      TENON_ASSIGN_OR_RETURN(t, Repeat(t, n));
    }
    return results;
  }
  std::vector<Tensor> results;
  std::vector<Tensor> scalars;
  for (const Tensor& t : arguments) {
    TENON_ASSIGN_OR_RETURN(Tensor scalar, Tensor::Allocate(t.dtype(), Shape()));
    scalars.push_back(std::move(scalar));
  }
  for (int64_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < arguments.size(); ++k) {
      const DType dtype = arguments[k].dtype();
      CopyElements(dtype, ElementAddress(arguments[k].raw(), dtype, i), scalars[k].raw(), 1);
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> one, Call(function, scalars, run, calls));
    for (size_t k = 0; k < one.size(); ++k) {
      const DType dtype = one[k].dtype();
      if (one[k].num_elements() != 1) {
        return InvalidArgument("a function of scalars gives a result of shape ",
                               one[k].shape().ToString());
      }
      if (i == 0) {
        TENON_ASSIGN_OR_RETURN(Tensor all, Tensor::Allocate(dtype, whole));
        results.push_back(std::move(all));
      }
      CopyElements(dtype, one[k].raw(), ElementAddress(results[k].raw(), dtype, i), 1);
    }
  }
  return results;
}

}  // namespace tenon
