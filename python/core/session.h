// The Python class Session.
#ifndef TENON_PYTHON_CORE_SESSION_H_
#define TENON_PYTHON_CORE_SESSION_H_

#include <nanobind/nanobind.h>

#include <memory>

#include "tenon/tenon.h"

namespace tenon::python {

// What `session`, a Python Session, stands for. FailedPreconditionError if it is closed.
std::shared_ptr<tenon_session> OpenSession(nanobind::handle session);

void AddSession(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_SESSION_H_
