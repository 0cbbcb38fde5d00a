#include "runtime/execution/map_step.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "env/status.h"
#include "graph/object.h"
#include "kernels/interface/parallel.h"
#include "kernels/lists/tensor_list.h"
#include "runtime/execution/execution.h"

namespace tenon {
namespace {

absl::StatusOr<Tensor> Scalar(int64_t value) {
  if (value > std::numeric_limits<int32_t>::max()) return InvalidArgument("a counter overflows");
  return Tensor::From<int32_t>({}, {static_cast<int32_t>(value)});
}

int64_t ValueOf(const Tensor& counter) { return *counter.data<int32_t>(); }

absl::StatusOr<std::shared_ptr<TensorList>> CopyOf(const Tensor& handle) {
  TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(handle.data<ObjectPtr>()));
  return std::make_shared<TensorList>(*list);
}

// Gives `to` the items that a part set.
absl::Status TakeItems(const Tensor& part, int64_t begin, int64_t end, TensorList& to) {
  TENON_ASSIGN_OR_RETURN(const TensorList* list, ListAt(part.data<ObjectPtr>()));
  for (int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<size_t>(i);
    if (i < 0 || at >= list->items.size() || at >= to.items.size()) {
      return Internal("a loop set item ", i, " of a list of ", to.items.size());
    }
    if (list->items[at] != nullptr) to.Note(list->items[at]->shape());
    to.items[at] = list->items[at];
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> MapStep::VariablesAt(int64_t iteration,
                                                         absl::Span<const Tensor> start) const {
  std::vector<Tensor> variables(start.begin(), start.end());
  for (const size_t counter : loop_.counters) {
    TENON_ASSIGN_OR_RETURN(variables[counter], Scalar(ValueOf(start[counter]) + iteration));
  }
  return variables;
}

absl::StatusOr<int64_t> MapStep::Count(const Execution& run, Calls& calls) const {
  for (int64_t iteration = 0;; ++iteration) {
    if (run.stop != nullptr) TENON_RETURN_IF_ERROR(run.stop->Check());
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> variables,
                           VariablesAt(iteration, calls.values));
    TENON_ASSIGN_OR_RETURN(PlanCall * condition, CallOf(0, variables, general(), run, calls));
    TENON_ASSIGN_OR_RETURN(const bool more, condition->Test(variables, run.stop));
    if (!more) return iteration;
  }
}

absl::Status MapStep::RunPart(int64_t begin, int64_t end, const Execution& run, PlanCall& call,
                              std::vector<Tensor>& variables) const {
  Services one_thread = run.plan.services;
  one_thread.threads = 1;
  std::vector<Tensor> results;
  call.BeginLoop();
  for (int64_t i = begin; i < end; ++i) {
    if (run.stop != nullptr) TENON_RETURN_IF_ERROR(run.stop->Check());
    TENON_RETURN_IF_ERROR(Fit(*alone_, variables, general(), one_thread, *run.plan.cache, call));
    TENON_RETURN_IF_ERROR(call.Iterate(absl::MakeSpan(variables), run.stop, results));
    variables.swap(results);
    results.clear();
  }
  return absl::OkStatus();
}

absl::Status MapStep::Results(const Execution& run, Calls& calls) const {
  const int threads = run.plan.services.threads;
  calls.by_function[0].BeginLoop();
  TENON_ASSIGN_OR_RETURN(const int64_t n, Count(run, calls));
  if (n < 2) return WhileStep::Results(run, calls);

  const int64_t parts = std::min<int64_t>(threads, n);
  const auto first = [&](int64_t part) { return n * part / parts; };
  std::vector<std::vector<Tensor>> variables;
  for (int64_t part = 0; part < parts; ++part) {
    TENON_ASSIGN_OR_RETURN(variables.emplace_back(), VariablesAt(first(part), calls.values));
    for (const MapLoop::List& list : loop_.lists) {
      TENON_ASSIGN_OR_RETURN(auto own, CopyOf(calls.values[list.variable]));
      TENON_ASSIGN_OR_RETURN(variables.back()[list.variable],
                             ObjectTensor(DType::kVariant, std::move(own)));
    }
  }
  std::vector<absl::Status> status(static_cast<size_t>(parts));
  calls.members.resize(static_cast<size_t>(threads));
  ParallelTasks(threads, parts, [&](int thread, int64_t part) {
    const auto p = static_cast<size_t>(part);
    status[p] = RunPart(first(part), first(part + 1), run,
                        calls.members[static_cast<size_t>(thread)], variables[p]);
  });
  if (absl::c_any_of(status, [](const absl::Status& s) { return absl::IsResourceExhausted(s); })) {
    variables.clear();
    calls.members.clear();
    return WhileStep::Results(run, calls);  // with the memory of one iteration at a time
  }
  for (absl::Status& s : status) TENON_RETURN_IF_ERROR(std::move(s));

  TENON_ASSIGN_OR_RETURN(calls.results, VariablesAt(n, calls.values));
  for (const MapLoop::List& list : loop_.lists) {
    TENON_ASSIGN_OR_RETURN(auto all, CopyOf(variables[0][list.variable]));
    const int64_t start = ValueOf(calls.values[list.counter]);
    for (int64_t part = 1; part < parts; ++part) {
      TENON_RETURN_IF_ERROR(TakeItems(variables[static_cast<size_t>(part)][list.variable],
                                      start + first(part), start + first(part + 1), *all));
    }
    TENON_ASSIGN_OR_RETURN(calls.results[list.variable],
                           ObjectTensor(DType::kVariant, std::move(all)));
  }
  calls.iterations = n;
  return absl::OkStatus();
}

}  // namespace tenon
