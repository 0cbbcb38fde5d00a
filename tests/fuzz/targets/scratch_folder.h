// A folder of this process for the files that a target reads; removed when the process ends.
#ifndef TENON_TESTS_FUZZ_TARGETS_SCRATCH_FOLDER_H_
#define TENON_TESTS_FUZZ_TARGETS_SCRATCH_FOLDER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tenon {

// Writes a file of the folder, and returns its path.
std::string WriteScratchFile(const std::string& name, absl::string_view bytes);

}  // namespace tenon

#endif  // TENON_TESTS_FUZZ_TARGETS_SCRATCH_FOLDER_H_
