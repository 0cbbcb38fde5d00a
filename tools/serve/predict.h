// The calls of TensorFlow Serving's services, whatever carried them here. Error codes and texts are
// TensorFlow Serving's, where it has an error for the case.
#ifndef TENON_TOOLS_SERVE_PREDICT_H_
#define TENON_TOOLS_SERVE_PREDICT_H_

#include <functional>
#include <memory>

#include "serving.pb.h"
#include "tools/serve/repository.h"
#include "tools/serve/scheduler.h"

namespace tenon::serve {

// Who waits for a call, and how long.
struct Caller {
  Clock::time_point deadline = Clock::time_point::max();
  std::function<bool()> cancelled;  // may be empty
  Clock::time_point arrived = Clock::now();
};

using Done = std::function<void(absl::Status)>;

class Predictor {
 public:
  // `as_content`: outputs in tensor_content instead of the field of their dtype.
  Predictor(Repository& repository, Scheduler& scheduler, bool as_content)
      : repository_(repository), scheduler_(scheduler), as_content_(as_content) {}

  // Each calls `done` once, perhaps before it returns. Request and response must live until then;
  // the response is complete only if the status is OK.
  void Predict(const tensorflow::serving::PredictRequest& request,
               tensorflow::serving::PredictResponse* response, Caller caller, Done done);
  void Classify(const tensorflow::serving::ClassificationRequest& request,
                tensorflow::serving::ClassificationResponse* response, Caller caller, Done done);
  void Regress(const tensorflow::serving::RegressionRequest& request,
               tensorflow::serving::RegressionResponse* response, Caller caller, Done done);

  // Every task is a run of its own; their inputs need not be the same tensor of the graph.
  void MultiInference(const tensorflow::serving::MultiInferenceRequest& request,
                      tensorflow::serving::MultiInferenceResponse* response, Caller caller,
                      Done done);

  // The same on a model that the repository does not have yet; waits for the result.
  absl::Status Replay(const std::shared_ptr<Servable>& servable,
                      const tensorflow::serving::PredictionLog& log);

  absl::Status Metadata(const tensorflow::serving::GetModelMetadataRequest& request,
                        tensorflow::serving::GetModelMetadataResponse* response) const;
  absl::Status Status(const tensorflow::serving::GetModelStatusRequest& request,
                      tensorflow::serving::GetModelStatusResponse* response) const;
  absl::Status Reload(const tensorflow::serving::ReloadConfigRequest& request,
                      tensorflow::serving::ReloadConfigResponse* response);

  Repository& repository() { return repository_; }
  Scheduler& scheduler() { return scheduler_; }

 private:
  void PredictOn(const std::shared_ptr<Servable>& servable,
                 const tensorflow::serving::PredictRequest& request,
                 tensorflow::serving::PredictResponse* response, Caller caller, Done done);
  void ClassifyOn(const std::shared_ptr<Servable>& servable,
                  const tensorflow::serving::ClassificationRequest& request,
                  tensorflow::serving::ClassificationResponse* response, Caller caller, Done done);
  void RegressOn(const std::shared_ptr<Servable>& servable,
                 const tensorflow::serving::RegressionRequest& request,
                 tensorflow::serving::RegressionResponse* response, Caller caller, Done done);
  void MultiInferenceOn(const std::shared_ptr<Servable>& servable,
                        const tensorflow::serving::MultiInferenceRequest& request,
                        tensorflow::serving::MultiInferenceResponse* response, Caller caller,
                        Done done);

  Repository& repository_;
  Scheduler& scheduler_;
  const bool as_content_;
};

// The signatures of a model, as GetModelMetadata answers.
tensorflow::serving::SignatureDefMap SignaturesOf(const Servable& servable);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_PREDICT_H_
