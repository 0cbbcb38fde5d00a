// The objects behind the C interface's handles, and the conversion of statuses.
#ifndef TENON_INCLUDE_C_API_TYPES_H_
#define TENON_INCLUDE_C_API_TYPES_H_

#include <memory>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "graph/tensor.h"
#include "runtime/session/session.h"
#include "tenon/tenon.h"

struct tenon_status {
  absl::Status status;
  std::string message;
};
struct tenon_tensor {
  tenon::Tensor tensor;
};
struct tenon_session {
  std::unique_ptr<tenon::Session> session;
};

namespace tenon {

inline tenon_status* WrapStatus(const absl::Status& status) {
  if (status.ok()) return nullptr;
  return new tenon_status{status, std::string(status.message())};
}

// Out of memory is the only exception that the code below may raise.
template <typename F>
tenon_status* Guard(F f) {
  try {
    return WrapStatus(f());
  } catch (const std::bad_alloc&) {
    return WrapStatus(absl::ResourceExhaustedError("out of memory"));
  } catch (...) {
    return WrapStatus(absl::InternalError("an exception was thrown"));
  }
}

absl::StatusOr<Shape> ShapeFromDims(const int64_t* dims, int rank);

}  // namespace tenon

#endif  // TENON_INCLUDE_C_API_TYPES_H_
