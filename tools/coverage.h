// How much of a model runs accelerated: by nodes, and by time.
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

// A table of the models (SavedModel folders or GraphDef files), then one of each model's ops and,
// where there are any, the ops that Tenon does not have with their nodes. Inputs are those of an
// inputs.npz beside the model's folder, else random. What
// keeps a model from running stands in its row; the others are still reported.
absl::StatusOr<std::string> CoverageText(const std::vector<std::string>& models,
                                         const CoverageOptions& options);

}  // namespace tenon

#endif  // TENON_TOOLS_COVERAGE_H_
