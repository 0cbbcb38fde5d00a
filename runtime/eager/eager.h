// Eager execution: one op at a time, with the same rows, renames, shape functions and kernels as
// graphs.
//
//   TENON_ASSIGN_OR_RETURN(std::vector<Tensor> y, eager::Execute("Relu", {x}));
//
// or with your own context, also asynchronously:
//
//   TENON_ASSIGN_OR_RETURN(auto context, Eager::Create({}));
//   TENON_ASSIGN_OR_RETURN(auto product, context->Submit("MatMul", {a, b}));   // returns at once
//   TENON_ASSIGN_OR_RETURN(auto y, context->Submit("Relu", {product[0]}));
//   TENON_ASSIGN_OR_RETURN(Tensor result, y[0].Read());                        // waits
#ifndef TENON_RUNTIME_EAGER_EAGER_H_
#define TENON_RUNTIME_EAGER_EAGER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/bounded_cache.h"
#include "graph/attr.h"
#include "graph/tensor.h"
#include "runtime/session/session.h"

namespace tenon {

struct EagerValue;  // runtime/eager/eager_queue.h

// A tensor that is ready or being computed. Copies share it; it may outlive its context.
class EagerHandle {
 public:
  EagerHandle(Tensor value);  // ready at once
  explicit EagerHandle(std::shared_ptr<EagerValue> value) : value_(std::move(value)) {}

  DType dtype() const;
  bool ready() const;
  // Waits for the value, or for the first error of the calls that it depends on, which names the
  // op.
  absl::StatusOr<Tensor> Read() const;

  const std::shared_ptr<EagerValue>& value() const { return value_; }

 private:
  std::shared_ptr<EagerValue> value_;
};

class Eager {
 public:
  static absl::StatusOr<std::unique_ptr<Eager>> Create(const SessionOptions& options);
  // Runs the submitted calls first.
  ~Eager();
  Eager(const Eager&) = delete;
  Eager& operator=(const Eager&) = delete;

  // Runs a TensorFlow op; with the gate on, by its accelerated kernel if the row has one for the
  // dtype. Type and number attributes that follow from the inputs, and attributes with defaults,
  // may be omitted. Private ops are NotFound: they are not for users. Thread-safe.
  absl::StatusOr<std::vector<Tensor>> Execute(absl::string_view op, absl::Span<const Tensor> inputs,
                                              const AttrMap& attrs = {});

  // Like Execute, but returns without waiting. Calls run when their inputs are ready, stateful
  // calls in the order of submission. Errors in the call's form (no such op, wrong attributes) are
  // returned at once; others come from Read, also for everything that depends on the call. Blocks
  // while too many calls or bytes are pending (kMaxPending, kMaxPendingBytes in
  // runtime/eager/eager_queue.h). Thread-safe.
  absl::StatusOr<std::vector<EagerHandle>> Submit(absl::string_view op,
                                                  absl::Span<const EagerHandle> inputs,
                                                  const AttrMap& attrs = {});

  CacheStats kernel_stats() const;

 private:
  struct State;
  Eager();
  absl::StatusOr<std::vector<EagerHandle>> SubmitOrThrow(absl::string_view op,
                                                         absl::Span<const EagerHandle> inputs,
                                                         const AttrMap& attrs);
  std::unique_ptr<State> state_;
};

namespace eager {

// The process's own context, created by the first call from the environment at that time.
absl::StatusOr<Eager*> DefaultContext();

// Eager::Execute and Eager::Submit in the default context.
absl::StatusOr<std::vector<Tensor>> Execute(absl::string_view op, absl::Span<const Tensor> inputs,
                                            const AttrMap& attrs = {});
absl::StatusOr<std::vector<EagerHandle>> Submit(absl::string_view op,
                                                absl::Span<const EagerHandle> inputs,
                                                const AttrMap& attrs = {});

}  // namespace eager
}  // namespace tenon

#endif  // TENON_RUNTIME_EAGER_EAGER_H_
