#include "kernels/text/converters.h"

#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>

#include <memory>

#include "env/status.h"

namespace tenon {
namespace {

struct CloseConverter {
  void operator()(UConverter* converter) const { ucnv_close(converter); }
};

// The thread's converter for its last encoding, as after opening it; null if ICU has none.
UConverter* ConverterFor(const std::string& name) {
  thread_local std::unique_ptr<UConverter, CloseConverter> converter;
  thread_local std::string known;
  if (converter == nullptr || known != name) {
    UErrorCode status = U_ZERO_ERROR;
    converter.reset(ucnv_open(name.c_str(), &status));
    known = name;
    if (U_FAILURE(status)) converter.reset();
  } else {
    ucnv_reset(converter.get());
  }
  return converter.get();
}

// Notes that bytes are no character, and puts ICU's substitute in their place.
void NoteError(const void* context, UConverterToUnicodeArgs* args, const char* bytes, int32_t size,
               UConverterCallbackReason reason, UErrorCode* status) {
  if (reason == UCNV_UNASSIGNED || reason == UCNV_ILLEGAL || reason == UCNV_IRREGULAR) {
    *static_cast<bool*>(const_cast<void*>(context)) = true;
  }
  UCNV_TO_U_CALLBACK_SUBSTITUTE(nullptr, args, bytes, size, reason, status);
}

}  // namespace

absl::Status CheckConverter(const std::string& name) {
  if (name.find('\0') != std::string::npos || ConverterFor(name) == nullptr) {
    return InvalidArgument("no converter for input_encoding '", name, "'");
  }
  return absl::OkStatus();
}

absl::Status ConvertCharacters(
    const std::string& name, const std::string& text,
    absl::FunctionRef<bool(uint32_t character, size_t end, bool valid)> visit) {
  UConverter* const converter = ConverterFor(name);
  if (converter == nullptr) return Internal("no converter for '", name, "'");
  bool error = false;
  UConverterToUCallback former = nullptr;
  const void* former_context = nullptr;
  UErrorCode status = U_ZERO_ERROR;
  ucnv_setToUCallBack(converter, NoteError, &error, &former, &former_context, &status);
  if (U_FAILURE(status)) return Internal("ICU: ", u_errorName(status));
  bool more = true;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end && more) {
    const UChar32 character = ucnv_getNextUChar(converter, &at, end, &status);
    if (U_FAILURE(status)) at = end;
    more = visit(static_cast<uint32_t>(character), static_cast<size_t>(at - text.data()), !error);
    error = false;
  }
  status = U_ZERO_ERROR;
  ucnv_setToUCallBack(converter, former, former_context, nullptr, nullptr, &status);
  return absl::OkStatus();
}

}  // namespace tenon
