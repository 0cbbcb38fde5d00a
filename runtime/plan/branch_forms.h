// Boolean inputs that decide which branches a graph takes, such as whether it is being trained.
// Graphs of TensorFlow 1 have them: their batch normalization is a branch. With such an input's
// value known, rewriting puts the branch that is taken in its place and fuses what is in it.
#ifndef TENON_RUNTIME_PLAN_BRANCH_FORMS_H_
#define TENON_RUNTIME_PLAN_BRANCH_FORMS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
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
  using Rewrite = absl::FunctionRef<absl::StatusOr<std::shared_ptr<const ModelState>>(Graph)>;

  // `graph` is not yet rewritten.
  explicit BranchForms(const Graph& graph);

  // The positions, in Graph::inputs(), of the inputs that decide branches; empty if there are none,
  // or more than a few.
  const std::vector<size_t>& inputs() const { return inputs_; }

  // The form for feeds with these values (KnownBool); null if one of them is not known, or if the
  // form would have state of its own, such as a sequence of random numbers. Its inputs are those of
  // the model. Errors are those of `rewrite`. Thread-safe.
  absl::StatusOr<std::shared_ptr<const ModelState>> For(absl::Span<const TensorSpec> feeds,
                                                        Rewrite rewrite) const;
  // Visits the forms that were made.
  void ForEach(absl::FunctionRef<void(const ModelState&)> visit) const;

 private:
  std::vector<size_t> inputs_;
  Graph graph_;
  mutable Mutex mutex_;
  // By values: bit i is that of inputs_[i].
  mutable std::vector<std::shared_ptr<const ModelState>> forms_ ABSL_GUARDED_BY(mutex_);
  mutable std::vector<bool> made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_BRANCH_FORMS_H_
