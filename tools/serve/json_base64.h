// What every JSON request of TensorFlow Serving's REST API may have.
#ifndef TENON_TOOLS_SERVE_JSON_BASE64_H_
#define TENON_TOOLS_SERVE_JSON_BASE64_H_

#include <rapidjson/document.h>

#include <string>

#include "absl/status/status.h"
#include "serving.pb.h"

namespace tenon::serve {

// {"b64": "…"}
bool IsBase64(const rapidjson::Value& value);
absl::Status DecodeBase64(const rapidjson::Value& value, std::string* bytes);

// {"signature_name": "…"}, which is optional
absl::Status ReadSignatureName(const rapidjson::Document& document,
                               tensorflow::serving::ModelSpec* spec);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_JSON_BASE64_H_
