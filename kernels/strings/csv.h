// Columns of records of comma-separated values (RFC 4180).
#ifndef TENON_KERNELS_STRINGS_CSV_H_
#define TENON_KERNELS_STRINGS_CSV_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The format of records, and the columns to read.
struct CsvDialect {
  char delimiter = ',';
  bool quotes = true;
  std::string missing;          // this text represents a missing value
  std::vector<int64_t> chosen;  // columns, ascending; empty: all
};

// Reads field_delim, use_quote_delim, na_value and select_cols, for `columns` outputs.
// InvalidArgument if these are inconsistent.
absl::StatusOr<CsvDialect> ReadCsvDialect(const AttrReader& attrs, int columns);

// Input 0: records of any shape. One default (empty: none) and one output of that shape per column:
// float, double, int32, int64 or string. InvalidArgument if a record is malformed, a field does not
// parse, or one without a default is missing.
absl::StatusOr<std::unique_ptr<Kernel>> DecodeCsvKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_CSV_H_
