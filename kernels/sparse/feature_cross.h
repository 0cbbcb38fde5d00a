// Feature crosses: every combination of one feature per column, row by row. Shared by SparseCross
// and RaggedCross.
#ifndef TENON_KERNELS_SPARSE_FEATURE_CROSS_H_
#define TENON_KERNELS_SPARSE_FEATURE_CROSS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/interface/kernel.h"

namespace tenon {

struct FeatureColumn {
  // The features, strings or numbers.
  const std::string* texts = nullptr;
  const int64_t* numbers = nullptr;
  // The position of a row's features: `dense` of them in each row, or by splits, or (coordinates
  // [n, 2] in row order) by the rows they name.
  int64_t dense = -1;
  std::vector<int64_t> splits;
  const int64_t* coordinates = nullptr;
  int64_t entries = 0;

  std::string Text(int64_t i) const { return texts ? texts[i] : std::to_string(numbers[i]); }
};

// The features of a row, by index in the column.
struct FeatureRange {
  int64_t begin = 0;
  int64_t count = 0;
};

// `visit` gets the number of each row that has a feature in every column, and its number of
// crosses. InvalidArgument if there are too many to count.
absl::Status ForEachCrossedRow(
    absl::Span<const FeatureColumn> columns, int64_t rows,
    absl::FunctionRef<absl::Status(int64_t row, absl::Span<const FeatureRange>, int64_t crosses)>
        visit);

// The crosses of a row: indices of one feature per column; the last column's changes fastest.
void ForEachCross(absl::Span<const FeatureRange> row,
                  absl::FunctionRef<void(absl::Span<const int64_t> places)> visit);

// How crosses become values: joined texts, or joined hashes modulo `buckets` (0: INT64_MAX).
struct CrossValue {
  std::string separator = "_X_";
  uint64_t start = 0;      // combined with the first feature's hash
  bool from_start = true;  // if this is set
  uint64_t buckets = 0;
  bool strong = false;       // hashes of texts and of numbers use a key
  uint64_t key[2] = {0, 0};  // of strong hashes

  std::string Text(absl::Span<const FeatureColumn> columns, absl::Span<const int64_t> places) const;
  int64_t Bucket(absl::Span<const FeatureColumn> columns, absl::Span<const int64_t> places) const;
};

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_FEATURE_CROSS_H_
