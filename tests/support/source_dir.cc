#include "tests/support/source_dir.h"

namespace tenon {

std::string SourcePath(const std::string& path) { return TENON_SOURCE_DIR "/" + path; }

}  // namespace tenon
