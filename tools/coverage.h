// Measures how much of a model runs accelerated: by nodes, and by time.
#ifndef TENON_TOOLS_COVERAGE_H_
#define TENON_TOOLS_COVERAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon {

struct CoverageOptions {
  double seconds = 1;  // of profiled runs per model; 0: counts only
  bool markdown = false;
  int threads = 0;
};

// A table of the models (SavedModel folders or GraphDef files), then one table of each model's ops
// and, if there are any, the ops that Tenon does not have with their nodes. Inputs come from an
// inputs.npz next to the model's folder, or are random. The row of a model that cannot run says
// why; the others are still reported.
absl::StatusOr<std::string> CoverageText(const std::vector<std::string>& models,
                                         const CoverageOptions& options);

}  // namespace tenon

#endif  // TENON_TOOLS_COVERAGE_H_
