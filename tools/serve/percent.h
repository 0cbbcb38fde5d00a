// Percent encoding of parts of a URL's path.
#ifndef TENON_TOOLS_SERVE_PERCENT_H_
#define TENON_TOOLS_SERVE_PERCENT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tenon::serve {

// "a%2Fb" to "a/b". False if it is malformed.
bool DecodePercent(absl::string_view text, std::string* decoded);

// Everything but letters, digits and -._~ is encoded.
std::string EncodePercent(absl::string_view text);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_PERCENT_H_
