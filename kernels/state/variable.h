// A variable: a tensor that outlives a run. Sessions hold variables by name; handles (scalars of
// dtype resource) point to them.
//
// Readers take the current tensor (without a copy) and may keep it. A writer changes the memory in
// place if nobody else holds it, and otherwise a fresh copy. So a reader never sees a change, and
// concurrent runs see a variable before or after an update, never in between.
#ifndef TENON_KERNELS_STATE_VARIABLE_H_
#define TENON_KERNELS_STATE_VARIABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/mutex.h"
#include "graph/object.h"

namespace tenon {

// Attributes that import sets: on VarHandleOp the value in the checkpoint (absent: none), on
// ReadVariableOp the shape that every value has.
inline constexpr char kInitialValueAttr[] = "_initial_value";
inline constexpr char kVariableShapeAttr[] = "_shape";

class Variable final : public Object {
 public:
  // `shape` may be partial; every value must be compatible with it. `initial` may be invalid: the
  // variable is then uninitialized.
  Variable(std::string name, DType dtype, Shape shape, Tensor initial)
      : name_(std::move(name)),
        dtype_(dtype),
        shape_(std::move(shape)),
        value_(std::move(initial)) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }

  bool initialized() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Shares the variable's memory, which must not be written. FailedPrecondition if there is no
  // value yet.
  absl::StatusOr<Tensor> Read() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Copies the value. InvalidArgument if dtype or shape do not match the variable's.
  absl::Status Assign(const Tensor& value) ABSL_LOCKS_EXCLUDED(mutex_);
  void Reset() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend absl::Status UpdateVariables(
      absl::Span<Variable* const> variables,
      absl::FunctionRef<absl::Status(absl::Span<Tensor* const>)> update);

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  mutable Mutex mutex_;
  Tensor value_ ABSL_GUARDED_BY(mutex_);
};

// Calls `update` with the variables' values in memory that nobody else reads, all locked at once.
// InvalidArgument if one variable is given twice.
absl::Status UpdateVariables(absl::Span<Variable* const> variables,
                             absl::FunctionRef<absl::Status(absl::Span<Tensor* const>)> update);

// The variable that the element of a handle points to. InvalidArgument if it is not a variable.
absl::StatusOr<Variable*> VariableAt(const ObjectPtr* handle);

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_VARIABLE_H_
