// The kernel of ops whose outputs have their inputs' elements (aliases in a plan).
#ifndef TENON_KERNELS_LAYOUT_COPY_H_
#define TENON_KERNELS_LAYOUT_COPY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Copies n elements; strings are assigned.
void CopyElements(DType dtype, const void* src, void* dst, int64_t n);
// The same, split among threads if it is worth it.
void CopyElements(int threads, DType dtype, const void* src, void* dst, int64_t n);

// Position `element` of an array of `dtype`.
const void* ElementAddress(const void* data, DType dtype, int64_t element);
void* ElementAddress(void* data, DType dtype, int64_t element);

// Copies input i to output i, for every output; does not read further inputs. The outputs' shapes
// must be known.
absl::StatusOr<std::unique_ptr<Kernel>> CopyKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_COPY_H_
