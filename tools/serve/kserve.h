// The calls of the open inference protocol (KServe v2), whatever carried them here. REST requests
// arrive as the same messages.
#ifndef TENON_TOOLS_SERVE_KSERVE_H_
#define TENON_TOOLS_SERVE_KSERVE_H_

#include <string>

#include "absl/status/status.h"
#include "inference.pb.h"
#include "tools/serve/predict.h"

namespace tenon::serve {

// "FP32"; "" for dtypes that the protocol does not have.
std::string KServeName(tenon_dtype dtype);

class KServe {
 public:
  explicit KServe(Predictor& predictor) : predictor_(predictor) {}

  // Runs the default signature, or the one that the parameter "signature_name" names. The response
  // has its tensors in raw_output_contents unless the request has its own in `contents`. As
  // Predictor's calls otherwise.
  void Infer(const inference::ModelInferRequest& request, inference::ModelInferResponse* response,
             Caller caller, Done done);

  bool Ready() const { return predictor_.repository().Ready(); }
  bool ModelReady(const std::string& name, const std::string& version) const;
  void ServerMetadata(inference::ServerMetadataResponse* response) const;
  absl::Status ModelMetadata(const std::string& name, const std::string& version,
                             inference::ModelMetadataResponse* response) const;
  absl::Status ModelConfig(const std::string& name, const std::string& version,
                           inference::ModelConfig* config) const;
  // Empty name: all models.
  absl::Status Statistics(const std::string& name, const std::string& version,
                          inference::ModelStatisticsResponse* response) const;
  void Index(bool only_ready, inference::RepositoryIndexResponse* response) const;

 private:
  absl::StatusOr<std::shared_ptr<Servable>> Find(const std::string& name,
                                                 const std::string& version) const;

  Predictor& predictor_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_KSERVE_H_
