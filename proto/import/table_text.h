// Reads tables from text files: one entry per line, with delimiters between fields.
#ifndef TENON_PROTO_IMPORT_TABLE_TEXT_H_
#define TENON_PROTO_IMPORT_TABLE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace tenon {

struct TableText {
  static constexpr int64_t kLineNumber = -1, kWholeLine = -2;
  std::string path;
  int64_t key_index = kWholeLine, value_index = kLineNumber;  // a field, or one of the above
  int64_t vocab_size = -1;                                    // lines to read; -1: all
  char delimiter = '\t';
  int64_t offset = 0;  // lines to skip first
};

// Keys and values, [n] each. Errors name the file and the line.
absl::StatusOr<std::pair<Tensor, Tensor>> ReadTableText(const TableText& text, DType keys,
                                                        DType values);

}  // namespace tenon

#endif  // TENON_PROTO_IMPORT_TABLE_TEXT_H_
