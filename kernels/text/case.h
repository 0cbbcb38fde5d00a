// Lower and upper case: of ASCII, or with `encoding` "utf-8" of all characters, one of which may
// become several, and depend on its neighbors (a final sigma).
#ifndef TENON_KERNELS_TEXT_CASE_H_
#define TENON_KERNELS_TEXT_CASE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Strings of any shape. What is not UTF-8 becomes U+FFFD. InvalidArgument for other encodings.
absl::StatusOr<std::unique_ptr<Kernel>> LowerKernel(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> UpperKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_CASE_H_
