// Exceptions as statuses. Our own code throws nothing, but containers, oneDNN and protobuf throw
// std::bad_alloc when memory runs out. Every public function of a session and of the C interface
// catches it, so that callers get ResourceExhausted.
//
//   absl::StatusOr<Plan> Build() {
//     return CatchExceptions([&]() -> absl::StatusOr<Plan> { … });
//   }
#ifndef TENON_ENV_EXCEPTIONS_H_
#define TENON_ENV_EXCEPTIONS_H_

#include <atomic>
#include <exception>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace tenon {

// ResourceExhausted, "out of memory"; made beforehand, so it needs no memory.
absl::Status OutOfMemory() noexcept;

// `annotate()`, which may need memory; `status` if there is none.
absl::Status TryAnnotate(const absl::Status& status,
                         absl::FunctionRef<absl::Status()> annotate) noexcept;

// Only in a catch block. ResourceExhausted for std::bad_alloc, for containers that grow too large,
// and for threads that the system refuses; Internal with what() for anything else.
absl::Status CaughtException() noexcept;

// Calls `f`, which returns an absl::Status or absl::StatusOr.
template <typename F>
auto CatchExceptions(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (...) {
    return CaughtException();
  }
}

// The first exception that any thread of a parallel region throws, for the caller to throw again
// after the region: an exception that leaves a region ends the process.
class FirstException {
 public:
  // Only in a catch block.
  void Keep() noexcept {
    if (!kept_.test_and_set()) exception_ = std::current_exception();
  }
  // After the region.
  void Rethrow() const {
    if (exception_ != nullptr) std::rethrow_exception(exception_);
  }

 private:
  std::atomic_flag kept_;
  std::exception_ptr exception_;
};

}  // namespace tenon

#endif  // TENON_ENV_EXCEPTIONS_H_
