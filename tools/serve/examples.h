// Classify and Regress: their input is a list of tf.Example messages, which the model parses.
#ifndef TENON_TOOLS_SERVE_EXAMPLES_H_
#define TENON_TOOLS_SERVE_EXAMPLES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "serving.pb.h"
#include "tools/serve/scheduler.h"

namespace tenon::serve {

// A job for the signature with its input and outputs. Error if the signature is not of that kind.
absl::StatusOr<std::unique_ptr<Job>> ClassificationJob(const std::shared_ptr<Servable>& servable,
                                                       const std::string& signature,
                                                       const tensorflow::serving::Input& input);
absl::StatusOr<std::unique_ptr<Job>> RegressionJob(const std::shared_ptr<Servable>& servable,
                                                   const std::string& signature,
                                                   const tensorflow::serving::Input& input);

// `names` are those of `outputs`: "classes", "scores", or both.
absl::Status FillClassifications(const std::vector<std::string>& names,
                                 const std::vector<Tensor>& outputs, int64_t examples,
                                 tensorflow::serving::ClassificationResult* result);
absl::Status FillRegressions(const std::vector<Tensor>& outputs, int64_t examples,
                             tensorflow::serving::RegressionResult* result);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_EXAMPLES_H_
