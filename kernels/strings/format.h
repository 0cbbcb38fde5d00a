// Formats tensors as text.
#ifndef TENON_KERNELS_STRINGS_FORMAT_H_
#define TENON_KERNELS_STRINGS_FORMAT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A scalar: `template` with each placeholder replaced by a summary of an input (any dtype and
// shape). InvalidArgument if the numbers of placeholders and inputs differ.
absl::StatusOr<std::unique_ptr<Kernel>> StringFormatKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_FORMAT_H_
