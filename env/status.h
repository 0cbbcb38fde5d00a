// Helpers for absl::Status: early return, and context added to an error as it propagates.
//
//   TENON_RETURN_IF_ERROR(Check(x));
//   TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(dtype, shape));
#ifndef TENON_ENV_STATUS_H_
#define TENON_ENV_STATUS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace tenon {

// The same status with "context: " prepended to its message. OK stays OK.
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

template <typename... Args>
absl::Status InvalidArgument(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status Unimplemented(const Args&... args) {
  return absl::UnimplementedError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status Internal(const Args&... args) {
  return absl::InternalError(absl::StrCat(args...));
}
template <typename... Args>
absl::Status NotFound(const Args&... args) {
  return absl::NotFoundError(absl::StrCat(args...));
}

}  // namespace tenon

#define TENON_RETURN_IF_ERROR(expr)                                                     \
  do {                                                                                  \
    if (absl::Status tenon_status_ = (expr); !tenon_status_.ok()) return tenon_status_; \
  } while (false)

#define TENON_CONCAT_INNER_(a, b) a##b
#define TENON_CONCAT_(a, b) TENON_CONCAT_INNER_(a, b)
#define TENON_ASSIGN_OR_RETURN_(tmp, lhs, expr)  \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)
#define TENON_ASSIGN_OR_RETURN(lhs, expr) \
  TENON_ASSIGN_OR_RETURN_(TENON_CONCAT_(tenon_statusor_, __LINE__), lhs, expr)

#endif  // TENON_ENV_STATUS_H_
