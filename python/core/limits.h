// What ends a call early: a timeout, another thread, Ctrl-C.
#ifndef TENON_PYTHON_CORE_LIMITS_H_
#define TENON_PYTHON_CORE_LIMITS_H_

#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "tenon/tenon.h"

namespace tenon::python {

struct FreeCancel {
  void operator()(tenon_cancel* cancel) const { tenon_cancel_free(cancel); }
};

// The Python class Cancel: ends runs from another thread.
class Cancel {
 public:
  Cancel();
  void Request() { tenon_cancel_request(cancel_.get()); }
  tenon_cancel* get() const { return cancel_.get(); }

 private:
  std::unique_ptr<tenon_cancel, FreeCancel> cancel_;
};

// Calls `run` without the GIL, and throws what it returns; after Ctrl-C, KeyboardInterrupt.
// `timeout` is in seconds. `cancel`: null for none.
void RunWithLimits(std::optional<double> timeout, const Cancel* cancel,
                   absl::FunctionRef<tenon_status*(const tenon_run_options&)> run);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_LIMITS_H_
