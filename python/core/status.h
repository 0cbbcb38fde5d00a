// Failures of the C interface as Python exceptions.
#ifndef TENON_PYTHON_CORE_STATUS_H_
#define TENON_PYTHON_CORE_STATUS_H_

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>

#include "tenon/tenon.h"

namespace tenon::python {

// Becomes the exception class that tenon._errors.BY_CODE has for `code`.
class StatusError : public std::runtime_error {
 public:
  StatusError(tenon_code code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  tenon_code code() const { return code_; }

 private:
  tenon_code code_;
};

// Frees the status; throws StatusError if it is one. Needs no GIL.
void Check(tenon_status* status);

// Once, when the module is loaded.
void AddErrors();

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_STATUS_H_
