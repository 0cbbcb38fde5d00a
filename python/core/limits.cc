#include "python/core/limits.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <new>

#include "python/core/interrupt.h"
#include "python/core/status.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

// At least one, because 0 means no limit; -1 if the time is over already.
int64_t Nanoseconds(double seconds) {
  if (!(seconds > 0)) return -1;
  if (seconds > 1e9) return 0;  // 30 years
  return static_cast<int64_t>(seconds * 1e9) + 1;
}

}  // namespace

Cancel::Cancel() : cancel_(tenon_cancel_create()) {
  if (cancel_ == nullptr) throw std::bad_alloc();
}

void RunWithLimits(std::optional<double> timeout, const Cancel* cancel,
                   absl::FunctionRef<tenon_status*(const tenon_run_options&)> run) {
  tenon_run_options options = TENON_RUN_OPTIONS_INIT;
  if (timeout.has_value()) options.timeout_ns = Nanoseconds(*timeout);
  std::optional<Cancel> own;
  if (cancel == nullptr) cancel = &own.emplace();
  options.cancel = cancel->get();
  tenon_status* status = nullptr;
  {
    const Interrupt interrupt(cancel->get());
    nb::gil_scoped_release release;
    status = run(options);
  }
  if (PyErr_CheckSignals() != 0) {  // KeyboardInterrupt
    tenon_status_free(status);
    nb::raise_python_error();
  }
  Check(status);
}

}  // namespace tenon::python
