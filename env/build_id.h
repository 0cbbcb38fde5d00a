// Identifies the build of this program, so that one build does not read files that another build
// wrote for its own use.
#ifndef TENON_ENV_BUILD_ID_H_
#define TENON_ENV_BUILD_ID_H_

#include <string>

namespace tenon {

// The linker's build ID, in hexadecimal, of the program or library that contains this code. "" if
// the linker wrote none.
std::string BuildId();

}  // namespace tenon

#endif  // TENON_ENV_BUILD_ID_H_
