// Reads a leveldb-style table (the index of a variables bundle) from a mapped file.
#ifndef TENON_PROTO_CHECKPOINT_TABLE_FILE_H_
#define TENON_PROTO_CHECKPOINT_TABLE_FILE_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "env/mapped_file.h"

namespace tenon {

// Calls `entry` for each key in order, until it returns an error. Every block's checksum is
// checked. If memory runs short, it begins once more.
using TableEntry = std::function<absl::Status(absl::string_view key, absl::string_view value)>;
absl::Status ReadTable(const MappedFile& file, const TableEntry& entry);

}  // namespace tenon

#endif  // TENON_PROTO_CHECKPOINT_TABLE_FILE_H_
