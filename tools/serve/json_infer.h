// Inference requests of the open inference protocol in JSON, with the binary tensor extension:
// tensors may follow the JSON text as they are in memory.
#ifndef TENON_TOOLS_SERVE_JSON_INFER_H_
#define TENON_TOOLS_SERVE_JSON_INFER_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "inference.pb.h"

namespace tenon::serve {

// Which outputs follow the JSON text of the response.
struct BinaryOutputs {
  bool all = false;
  std::set<std::string> yes, no;  // by name, whatever `all` says
};

// `json_bytes`: how much of the body is JSON; the whole body if negative. All inputs come into
// raw_input_contents.
absl::Status InferRequestFromJson(absl::string_view body, int64_t json_bytes,
                                  inference::ModelInferRequest* request, BinaryOutputs* binary);

// `json_bytes` gets the size of the JSON text in `body`; -1 if nothing follows it.
absl::Status InferResponseToJson(const inference::ModelInferResponse& response,
                                 const BinaryOutputs& binary, std::string* body,
                                 int64_t* json_bytes);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_JSON_INFER_H_
