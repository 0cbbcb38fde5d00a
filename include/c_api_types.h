// The objects behind the C interface's handles, and the conversion of statuses and structs.
#ifndef TENON_INCLUDE_C_API_TYPES_H_
#define TENON_INCLUDE_C_API_TYPES_H_

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "env/exceptions.h"
#include "env/status.h"
#include "graph/tensor.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tenon/tenon.h"

struct tenon_status {
  absl::Status status;
  std::string message;
};
struct tenon_tensor {
  tenon::Tensor tensor;
};
struct tenon_model {
  std::string path;         // empty: `bytes`
  absl::string_view bytes;  // the caller's
  tenon::ModelInfo info;
};
struct tenon_session {
  std::unique_ptr<tenon::Session> session;
};
struct tenon_cancel {
  std::atomic<bool> requested = false;
};

namespace tenon {

// For callers who get no memory even for an error; never freed.
tenon_status* OutOfMemoryHandle() noexcept;

inline tenon_status* WrapStatus(const absl::Status& status) noexcept {
  if (status.ok()) return nullptr;
  try {
    return new tenon_status{status, std::string(status.message())};
  } catch (const std::bad_alloc&) {
    return OutOfMemoryHandle();
  }
}

// Nothing may be thrown through C.
template <typename F>
tenon_status* Guard(F f) noexcept {
  return WrapStatus(CatchExceptions(f));
}

// Reads a struct of the caller's, which begins with its size: an older caller's is shorter, and the
// fields that it does not have keep the values of `defaults`. A newer caller's is longer; what this
// library does not know must be zero. `given` may be null.
template <typename T>
absl::StatusOr<T> ReadStruct(const T* given, const T& defaults) {
  T read = defaults;
  if (given == nullptr) return read;
  const size_t size = given->size;
  if (size < sizeof(size_t)) return InvalidArgument("a struct without its size");
  std::memcpy(&read, given, std::min(size, sizeof(T)));
  read.size = sizeof(T);
  const char* const bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return Unimplemented("a struct of ", size, " bytes, of which this version of Tenon (",
                         tenon_version(), ") knows ", sizeof(T));
  }
  return read;
}

// The other direction: fills as much as the caller's struct has.
template <typename T>
absl::Status WriteStruct(T value, T* to) {
  if (to == nullptr) return InvalidArgument("null argument");
  if (to->size < sizeof(size_t)) return InvalidArgument("a struct without its size");
  value.size = to->size;
  std::memcpy(to, &value, std::min(to->size, sizeof(T)));
  return absl::OkStatus();
}

// What a spec, or an accessor, says of a shape.
inline int RankOf(const Shape& shape) { return shape.has_rank() ? shape.rank() : -1; }
inline const int64_t* DimsOf(const Shape& shape) {
  return shape.has_rank() ? shape.dims().data() : nullptr;
}

// What the options of a session ask for, and how its model is loaded.
struct SessionRequest {
  LoadOptions load;
  SessionOptions session;
};
absl::StatusOr<SessionRequest> ReadSessionOptions(const tenon_session_options* given);

// A timeout becomes a deadline from now on.
absl::StatusOr<RunOptions> ReadRunOptions(const tenon_run_options* given);

absl::StatusOr<Shape> ShapeFromDims(const int64_t* dims, int rank);

}  // namespace tenon

#endif  // TENON_INCLUDE_C_API_TYPES_H_
