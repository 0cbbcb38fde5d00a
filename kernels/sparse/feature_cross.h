// Crosses of features: every way to pick one feature of each column, row by row. What SparseCross
// and RaggedCross share.
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
  // Where the features of a row are: `dense` of them in each, or by splits, or (coordinates [n, 2]
  // in row order) by the rows they state.
  int64_t dense = -1;
  std::vector<int64_t> splits;
  const int64_t* coordinates = nullptr;
  int64_t entries = 0;

  std::string Text(int64_t i) const { return texts ? texts[i] : std::to_string(numbers[i]); }
};

// The features of a row, by place in the column.
struct FeatureRange {
  int64_t begin = 0;
  int64_t count = 0;
};

// `visit` gets the number of a row that has a feature in every column, and how many crosses it has.
// InvalidArgument where there are too many to count.
absl::Status ForEachCrossedRow(
    absl::Span<const FeatureColumn> columns, int64_t rows,
    absl::FunctionRef<absl::Status(int64_t row, absl::Span<const FeatureRange>, int64_t crosses)>
        visit);

// The crosses of a row: places of one feature of each column, the last column's changing fastest.
void ForEachCross(absl::Span<const FeatureRange> row,
                  absl::FunctionRef<void(absl::Span<const int64_t> places)> visit);

// How crosses become values: joined texts, or joined hashes modulo `buckets` (0: INT64_MAX).
struct CrossValue {
  std::string separator = "_X_";
  uint64_t start = 0;      // what the first feature's hash is joined to, where
  bool from_start = true;  // this holds
  uint64_t buckets = 0;
  bool strong = false;       // hashes of texts, and of numbers, have a key
  uint64_t key[2] = {0, 0};  // of strong hashes

  std::string Text(absl::Span<const FeatureColumn> columns, absl::Span<const int64_t> places) const;
  int64_t Bucket(absl::Span<const FeatureColumn> columns, absl::Span<const int64_t> places) const;
};

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_FEATURE_CROSS_H_
