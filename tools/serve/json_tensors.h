// Tensors in TensorFlow Serving's REST API: rows ("instances", "predictions") and columns
// ("inputs", "outputs"), base64 as {"b64": "…"}. Error texts are TensorFlow Serving's.
#ifndef TENON_TOOLS_SERVE_JSON_TENSORS_H_
#define TENON_TOOLS_SERVE_JSON_TENSORS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "serving.pb.h"
#include "tools/serve/servable.h"

namespace tenon::serve {

enum class JsonFormat { kRows, kColumns };

// Finds the signature of this name, which is empty for the default.
using FindSignatureFn = std::function<absl::StatusOr<const Signature*>(const std::string&)>;

// Fills signature name and inputs of `request`.
absl::Status PredictRequestFromJson(absl::string_view json, const FindSignatureFn& find,
                                    tensorflow::serving::PredictRequest* request,
                                    JsonFormat* format);
absl::Status PredictResponseToJson(const tensorflow::serving::PredictResponse& response,
                                   JsonFormat format, std::string* json);

absl::Status ClassificationRequestFromJson(absl::string_view json,
                                           tensorflow::serving::ClassificationRequest* request);
absl::Status RegressionRequestFromJson(absl::string_view json,
                                       tensorflow::serving::RegressionRequest* request);
absl::Status ClassificationToJson(const tensorflow::serving::ClassificationResult& result,
                                  std::string* json);
absl::Status RegressionToJson(const tensorflow::serving::RegressionResult& result,
                              std::string* json);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_JSON_TENSORS_H_
