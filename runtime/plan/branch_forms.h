// Boolean inputs that decide which branches a graph takes, such as whether it is being trained.
// Graphs of TensorFlow 1 have them: their batch normalization is a branch. With such an input's
// value known, rewriting puts the branch that is taken in its place and fuses what is in it.
#ifndef TENON_RUNTIME_PLAN_BRANCH_FORMS_H_
#define TENON_RUNTIME_PLAN_BRANCH_FORMS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/mutex.h"
#include "graph/graph.h"
#include "graph/tensor_spec.h"
#include "runtime/plan/model_state.h"

namespace tenon {

// A constant, or null if `t` is no boolean scalar: equal values have the same one.
const Tensor* KnownBool(const Tensor& t);

// The forms of one model, by the values of those inputs. Each is made when a plan needs it, from a
// copy of the graph, whose weights stay in memory.
class BranchForms {
 public:
  // Rewrites a graph in place.
  using Rewrite = absl::FunctionRef<absl::Status(Graph&)>;

  // Of a graph that is not yet rewritten. Null if no input decides a branch, or more than a few do.
  static std::unique_ptr<const BranchForms> Of(const Graph& graph);

  // The positions, in Graph::inputs(), of the inputs that decide branches.
  const std::vector<size_t>& inputs() const { return inputs_; }

  // The form for feeds with these values (KnownBool), whose inputs are those of the model. Null if
  // the model itself must serve: a value is not known, the form cannot be made, or it would have
  // state of its own, such as a sequence of random numbers. ResourceExhausted if memory is short.
  // Thread-safe.
  absl::StatusOr<std::shared_ptr<const ModelState>> For(absl::Span<const TensorSpec> feeds,
                                                        SessionVariables& variables,
                                                        Rewrite rewrite) const;
  // Visits the forms that were made.
  void ForEach(absl::FunctionRef<void(const ModelState&)> visit) const;

 private:
  BranchForms(std::vector<size_t> inputs, const Graph& graph)
      : inputs_(std::move(inputs)), graph_(graph), forms_(size_t{1} << inputs_.size()) {}

  const std::vector<size_t> inputs_;
  const Graph graph_;
  mutable Mutex mutex_;
  // By values: bit i is that of inputs_[i]. Nothing: not yet made.
  mutable std::vector<std::optional<std::shared_ptr<const ModelState>>> forms_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_BRANCH_FORMS_H_
