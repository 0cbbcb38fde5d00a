// Shapes of rows of tokens: texts, one a row, and the row splits of their tokens.
#ifndef TENON_OPS_TEXT_ROW_SHAPES_H_
#define TENON_OPS_TEXT_ROW_SHAPES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "env/status.h"
#include "graph/shape.h"

namespace tenon {

// The row splits for as many rows as the first dimension has.
inline Shape SplitsOf(const Shape& rows) {
  const int64_t n = rows.has_rank() ? rows.dim(0) : -1;
  return Shape({n < 0 ? -1 : n + 1});
}

// The rows that these row splits make, a vector. InvalidArgument, with the text `empty`, if there
// are no splits.
inline absl::StatusOr<Shape> RowsOf(const Shape& splits,
                                    absl::string_view empty = "row splits are empty") {
  const int64_t n = splits.has_rank() ? splits.dim(0) : -1;
  if (n == 0) return InvalidArgument(empty);
  return Shape({n < 0 ? -1 : n - 1});
}

}  // namespace tenon

#endif  // TENON_OPS_TEXT_ROW_SHAPES_H_
