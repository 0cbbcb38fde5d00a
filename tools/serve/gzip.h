// gzip in memory, with zlib.
#ifndef TENON_TOOLS_SERVE_GZIP_H_
#define TENON_TOOLS_SERVE_GZIP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tenon::serve {

std::string GzipText(absl::string_view text);
// Error if the text would be larger than `limit` bytes.
absl::StatusOr<std::string> GunzipText(absl::string_view packed, uint64_t limit);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GZIP_H_
