// The REST APIs: TensorFlow Serving's (/v1), the open inference protocol's (/v2), metrics, and a
// page for people (/).
#ifndef TENON_TOOLS_SERVE_REST_H_
#define TENON_TOOLS_SERVE_REST_H_

#include <chrono>
#include <string>
#include <vector>

#include "tools/serve/http_server.h"
#include "tools/serve/kserve.h"
#include "tools/serve/page.h"
#include "tools/serve/predict.h"
#include "tools/serve/tokens.h"

namespace tenon::serve {

struct RestOptions {
  std::chrono::milliseconds timeout{30000};  // of a request; 0: none
  bool cors = false;                         // whether browsers may call from other sites
  std::string metrics_path;                  // besides /metrics and /monitoring/prometheus/metrics
  const Tokens* tokens = nullptr;            // who may ask; null: everyone. Must outlive the API
};

class RestApi {
 public:
  RestApi(Predictor& predictor, KServe& kserve, const RestOptions& options)
      : predictor_(predictor), kserve_(kserve), options_(options) {}

  void Handle(const HttpRequest& request, Respond respond);
  // Waits for the graph that is being made, if one is. Before the connections end.
  void Close() { graphs_.Close(); }

 private:
  // Where a path of /v1/models/… leads.
  struct Target {
    tensorflow::serving::ModelSpec spec;
    std::string method;       // "predict"; empty without a colon
    std::string subresource;  // "metadata"
  };
  static absl::StatusOr<Target> ParseTarget(const HttpRequest& request);

  void Route(const HttpRequest& request, Respond respond);
  void HandleV1(const HttpRequest& request, Respond respond);
  void HandleV2(const HttpRequest& request, Respond respond);
  void Infer(const HttpRequest& request, const std::string& model, const std::string& version,
             Respond respond);
  absl::StatusOr<std::string> Get(const Target& target) const;
  Caller NewCaller(Clock::time_point arrived) const;

  Predictor& predictor_;
  KServe& kserve_;
  const RestOptions options_;
  GraphMaker graphs_;
};

int HttpStatusOf(const absl::Status& status);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_REST_H_
