#include "python/core/status.h"

#include <exception>

namespace nb = nanobind;

namespace tenon::python {
namespace {

void Translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const StatusError& error) {
    const nb::object by_code = nb::module_::import_("tenon._errors").attr("BY_CODE");
    const nb::object type = by_code.attr("get")(static_cast<int>(error.code()));
    // Messages may quote names from a damaged file.
    const nb::object text = nb::steal(PyUnicode_DecodeUTF8(
        error.what(), static_cast<Py_ssize_t>(std::char_traits<char>::length(error.what())),
        "replace"));
    PyErr_SetObject(type.is_none() ? PyExc_RuntimeError : type.ptr(), text.ptr());
  }
}

}  // namespace

void Check(tenon_status* status) {
  if (status == nullptr) return;
  const StatusError error(tenon_status_code(status), tenon_status_message(status));
  tenon_status_free(status);
  throw error;
}

void AddErrors() { nb::register_exception_translator(Translate); }

}  // namespace tenon::python
