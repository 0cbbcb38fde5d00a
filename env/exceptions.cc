#include "env/exceptions.h"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace tenon {
namespace {

const absl::Status& NoMemory() {
  static const auto* const status =
      new absl::Status(absl::StatusCode::kResourceExhausted, "out of memory");
  return *status;
}
// Makes it when the library is loaded.
[[maybe_unused]] const absl::Status& loaded = NoMemory();

}  // namespace

absl::Status OutOfMemory() noexcept { return NoMemory(); }

absl::Status TryAnnotate(const absl::Status& status,
                         absl::FunctionRef<absl::Status()> annotate) noexcept {
  try {
    return annotate();
  } catch (...) {
    return status;
  }
}

absl::Status CaughtException() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return OutOfMemory();
    } catch (const std::length_error& e) {
      return absl::ResourceExhaustedError(std::string("too large: ") + e.what());
    } catch (const std::system_error& e) {
      return absl::ResourceExhaustedError(e.what());
    } catch (const std::exception& e) {
      return absl::InternalError(e.what());
    } catch (...) {
      return absl::InternalError("an unknown exception was thrown");
    }
  } catch (...) {
    return OutOfMemory();
  }
}

}  // namespace tenon
