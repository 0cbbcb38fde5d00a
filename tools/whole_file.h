// Files that are written whole or not at all.
#ifndef TENON_TOOLS_WHOLE_FILE_H_
#define TENON_TOOLS_WHOLE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tenon {

// Writes a file beside it and renames that, so that nobody sees a part, and an error leaves what
// was there. What is no regular file (a pipe, /dev/stdout) is written directly. InvalidArgument,
// with the path, if it cannot be written.
absl::Status WriteWholeFile(const std::string& path, absl::string_view text);

}  // namespace tenon

#endif  // TENON_TOOLS_WHOLE_FILE_H_
