#include "kernels/sparse/feature_cross.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "kernels/strings/fingerprint.h"

namespace tenon {
namespace {

// The rows of one column, requested in ascending order.
class RowCursor {
 public:
  explicit RowCursor(const FeatureColumn& column) : column_(column) {}

  FeatureRange At(int64_t row) {
    if (column_.dense >= 0) return {row * column_.dense, column_.dense};
    if (column_.coordinates == nullptr) {
      const size_t r = static_cast<size_t>(row);
      return {column_.splits[r], column_.splits[r + 1] - column_.splits[r]};
    }
    while (at_ < column_.entries && Row(at_) < row) ++at_;
    const int64_t begin = at_;
    while (at_ < column_.entries && Row(at_) == row) ++at_;
    return {begin, at_ - begin};
  }
  int64_t Row(int64_t entry) const { return column_.coordinates[2 * entry]; }
  // The next row that has an entry; `rows` if there is none.
  int64_t NextRow(int64_t rows) const { return at_ < column_.entries ? Row(at_) : rows; }
  void SkipBelow(int64_t row) {
    while (at_ < column_.entries && Row(at_) < row) ++at_;
  }

 private:
  const FeatureColumn& column_;
  int64_t at_ = 0;
};

uint64_t HashOf(const CrossValue& value, const FeatureColumn& column, int64_t i) {
  if (column.texts == nullptr && !value.strong) return static_cast<uint64_t>(column.numbers[i]);
  if (column.texts != nullptr && !value.strong) return Fingerprint64(column.texts[i]);
  if (column.texts != nullptr) return SipHash(column.texts[i], value.key[0], value.key[1]);
  // TensorFlow hashes as many bytes of the number as its dtype enumeration has: four.
  const std::string bytes(reinterpret_cast<const char*>(&column.numbers[i]), sizeof(int32_t));
  return SipHash(bytes, value.key[0], value.key[1]);
}

}  // namespace

absl::Status ForEachCrossedRow(
    absl::Span<const FeatureColumn> columns, int64_t rows,
    absl::FunctionRef<absl::Status(int64_t, absl::Span<const FeatureRange>, int64_t)> visit) {
  if (columns.empty()) return absl::OkStatus();
  std::vector<RowCursor> cursors;
  RowCursor* sparse = nullptr;  // rows may far outnumber the entries
  cursors.reserve(columns.size());
  for (const FeatureColumn& column : columns) {
    if (column.dense == 0) return absl::OkStatus();  // for any row
    cursors.emplace_back(column);
    if (column.coordinates != nullptr && sparse == nullptr) sparse = &cursors.back();
  }
  std::vector<FeatureRange> ranges(columns.size());
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (sparse != nullptr) {
      sparse->SkipBelow(row);
      row = sparse->NextRow(rows);
      if (row >= rows) break;
    }
    int64_t crosses = 1;
    for (size_t i = 0; i < cursors.size(); ++i) {
      ranges[i] = cursors[i].At(row);
      if (__builtin_mul_overflow(crosses, ranges[i].count, &crosses)) {
        return InvalidArgument("row ", row, " has too many crosses");
      }
    }
    if (crosses == 0) continue;
    if (__builtin_add_overflow(total, crosses, &total)) {
      return InvalidArgument("there are too many crosses");
    }
    TENON_RETURN_IF_ERROR(visit(row, ranges, crosses));
  }
  return absl::OkStatus();
}

void ForEachCross(absl::Span<const FeatureRange> row,
                  absl::FunctionRef<void(absl::Span<const int64_t>)> visit) {
  std::vector<int64_t> places;
  for (const FeatureRange& range : row) places.push_back(range.begin);
  for (;;) {
    visit(places);
    size_t i = row.size();
    while (i > 0) {
      --i;
      if (++places[i] < row[i].begin + row[i].count) break;
      places[i] = row[i].begin;
      if (i == 0) return;
    }
  }
}

std::string CrossValue::Text(absl::Span<const FeatureColumn> columns,
                             absl::Span<const int64_t> places) const {
  std::string text;
  for (size_t i = 0; i < columns.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : separator, columns[i].Text(places[i]));
  }
  return text;
}

int64_t CrossValue::Bucket(absl::Span<const FeatureColumn> columns,
                           absl::Span<const int64_t> places) const {
  uint64_t joined = start;
  for (size_t i = 0; i < columns.size(); ++i) {
    const uint64_t hash = HashOf(*this, columns[i], places[i]);
    joined = i == 0 && !from_start ? hash : JoinFingerprints(joined, hash);
  }
  const uint64_t most = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(joined % (buckets > 0 ? buckets : most));
}

}  // namespace tenon
