// What a lookup table contains when the model is loaded.
#ifndef TENON_PROTO_IMPORT_TABLE_CONTENT_H_
#define TENON_PROTO_IMPORT_TABLE_CONTENT_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/tensor.h"

namespace tenon {

struct TableContent {
  Tensor keys, values;  // [n] and [n] + the shape of a value; keys are unique
};

// Drops repeated entries, and those whose keys are in `marks`: scalars, which stand for the empty
// and deleted places of a dense table. InvalidArgument for a key with two values, for other numbers
// of keys than of values, and for marks that are no keys. Unimplemented for dtypes that tables do
// not support.
absl::Status CleanTableContent(absl::Span<const Tensor> marks, TableContent& content);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_TABLE_CONTENT_H_
