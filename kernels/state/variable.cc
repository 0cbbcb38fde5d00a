#include "kernels/state/variable.h"

#include <algorithm>
#include <functional>

#include "env/status.h"
#include "kernels/layout/copy.h"

namespace tenon {
bool Variable::initialized() const {
  MutexLock lock(&mutex_);
  return value_.valid();
}

absl::StatusOr<Tensor> Variable::Read() const {
  MutexLock lock(&mutex_);
  if (!value_.valid()) {
    return absl::FailedPreconditionError(absl::StrCat("variable '", name_, "' is not initialized"));
  }
  return value_;
}

absl::Status Variable::Assign(const Tensor& value) {
  if (value.dtype() != dtype_ || !value.shape().CompatibleWith(shape_)) {
    return InvalidArgument("variable '", name_, "' is ", Name(dtype_), " of shape ",
                           shape_.ToString(), "; the value is ", Name(value.dtype()), " of shape ",
                           value.shape().ToString());
  }
  MutexLock lock(&mutex_);
  if (value_.valid() && value_.OwnsAlone() && value_.shape() == value.shape()) {
    CopyElements(dtype_, value.raw(), value_.raw(), value.num_elements());
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(value_, value.Clone());
  return absl::OkStatus();
}

void Variable::Reset() {
  MutexLock lock(&mutex_);
  value_ = Tensor();
}

// The locks are taken in address order, which the thread-safety analysis cannot follow.
absl::Status UpdateVariables(absl::Span<Variable* const> variables,
                             absl::FunctionRef<absl::Status(absl::Span<Tensor* const>)> update)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  std::vector<Variable*> sorted(variables.begin(), variables.end());
  std::sort(sorted.begin(), sorted.end(), std::less<Variable*>());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return InvalidArgument("one variable is given for two");
  }
  struct Locks {
    explicit Locks(const std::vector<Variable*>& v) ABSL_NO_THREAD_SAFETY_ANALYSIS : held(v) {
      for (Variable* variable : held) variable->mutex_.Lock();
    }
    ~Locks() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      for (Variable* variable : held) variable->mutex_.Unlock();
    }
    const std::vector<Variable*>& held;
  } locks(sorted);

  std::vector<Tensor*> values;
  for (Variable* variable : variables) {
    Tensor& value = variable->value_;
    if (!value.valid()) {
      return absl::FailedPreconditionError(
          absl::StrCat("variable '", variable->name_, "' is not initialized"));
    }
    if (!value.OwnsAlone()) {
      TENON_ASSIGN_OR_RETURN(value, value.Clone());
    }
    values.push_back(&value);
  }
  return update(values);
}

absl::StatusOr<Variable*> VariableAt(const ObjectPtr* handle) {
  auto* variable = handle == nullptr ? nullptr : dynamic_cast<Variable*>(handle->get());
  if (variable == nullptr) return InvalidArgument("expected the handle of a variable");
  return variable;
}

}  // namespace tenon
