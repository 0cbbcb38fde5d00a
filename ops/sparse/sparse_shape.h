// Checks that the shape functions of sparse ops share.
#ifndef TENON_OPS_SPARSE_SPARSE_SHAPE_H_
#define TENON_OPS_SPARSE_SPARSE_SHAPE_H_

#include "ops/shape_fn.h"

namespace tenon {

// InvalidArgument unless inputs i, i + step, i + 2 * step can be a sparse tensor.
absl::Status ExpectSparse(const ShapeContext& c, int i, int step = 1);
// The same for inputs 0 to 2, whose first dimension counts sparse tensors.
absl::Status ExpectSparseBatch(const ShapeContext& c);

}  // namespace tenon

#endif  // TENON_OPS_SPARSE_SPARSE_SHAPE_H_
