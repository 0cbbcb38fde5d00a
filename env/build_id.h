// What tells one build of this program from another, so that what one build wrote for its own use
// is not read by the next.
#ifndef TENON_ENV_BUILD_ID_H_
#define TENON_ENV_BUILD_ID_H_

#include <string>

namespace tenon {

// Hexadecimal: the linker's build ID of the program or library that this code is in. "" where the
// linker wrote none.
std::string BuildId();

}  // namespace tenon

#endif  // TENON_ENV_BUILD_ID_H_
