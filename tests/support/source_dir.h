// Locates files of the source tree that tests read.
#ifndef TENON_TESTS_SUPPORT_SOURCE_DIR_H_
#define TENON_TESTS_SUPPORT_SOURCE_DIR_H_

#include <string>

namespace tenon {

// The absolute path of `path`, which is relative to the root of the source tree. A separate
// function, so that in another clone only its file must be compiled again.
std::string SourcePath(const std::string& path);

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_SOURCE_DIR_H_
