// MultiInference: several Classify and Regress tasks of one model on the same examples.
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "tools/serve/predict.h"

namespace tenon::serve {
namespace {

using namespace tensorflow::serving;  // NOLINT: all names below are messages

constexpr char kClassify[] = "tensorflow/serving/classify";
constexpr char kRegress[] = "tensorflow/serving/regress";

absl::Status CheckTasks(const Servable& servable, const MultiInferenceRequest& request) {
  std::set<std::string> seen;
  for (const InferenceTask& task : request.tasks()) {
    const ModelSpec& spec = task.model_spec();
    if (spec.name().empty()) {
      return absl::InvalidArgumentError("Found ModelSpec with an empty model name.");
    }
    if (spec.name() != request.tasks(0).model_spec().name()) {
      return absl::InvalidArgumentError(
          "All ModelSpecs in a MultiInferenceRequest must access the same model name.");
    }
    const std::string signature =
        spec.signature_name().empty() ? kDefaultSignature : spec.signature_name();
    if (!seen.insert(signature).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("Duplicate evaluation of signature: ", signature));
    }
    if (servable.Find(signature) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("Requested signature not found in model graph: ", signature));
    }
    if (task.method_name() != kClassify && task.method_name() != kRegress) {
      return absl::UnimplementedError(
          absl::StrCat("Unsupported signature method_name: ", task.method_name()));
    }
  }
  return absl::OkStatus();
}

// Tasks that are under way. The last one ends the call.
struct Tasks {
  std::mutex mutex;
  int open;
  absl::Status status;  // of the first task that failed
  Done done;
  std::vector<ClassificationRequest> classify;
  std::vector<RegressionRequest> regress;
  std::vector<ClassificationResponse> classified;
  std::vector<RegressionResponse> regressed;

  // True for the last one.
  bool End(const absl::Status& ended) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (status.ok()) status = ended;
    return --open == 0;
  }
};

}  // namespace

void Predictor::MultiInference(const MultiInferenceRequest& request,
                               MultiInferenceResponse* response, Caller caller, Done done) {
  const auto servable =
      repository_.Find(request.tasks().empty() ? ModelSpec() : request.tasks(0).model_spec());
  if (!servable.ok()) return done(servable.status());
  MultiInferenceOn(*servable, request, response, std::move(caller), std::move(done));
}

void Predictor::MultiInferenceOn(const std::shared_ptr<Servable>& servable,
                                 const MultiInferenceRequest& request,
                                 MultiInferenceResponse* response, Caller caller, Done done) {
  const absl::Status valid = CheckTasks(*servable, request);
  if (!valid.ok()) return done(valid);
  const int count = request.tasks_size();
  if (count == 0) return done(absl::InvalidArgumentError("Input is empty."));
  const auto tasks = std::make_shared<Tasks>();
  const auto size = static_cast<size_t>(count);
  tasks->open = count;
  tasks->done = std::move(done);
  tasks->classify.resize(size);
  tasks->regress.resize(size);
  tasks->classified.resize(size);
  tasks->regressed.resize(size);
  const auto end = [tasks, response, &request](const absl::Status& status) {
    if (!tasks->End(status)) return;
    for (int i = 0; tasks->status.ok() && i < request.tasks_size(); ++i) {
      const auto at = static_cast<size_t>(i);
      InferenceResult* const result = response->add_results();
      if (request.tasks(i).method_name() == kClassify) {
        result->mutable_model_spec()->Swap(tasks->classified[at].mutable_model_spec());
        result->mutable_classification_result()->Swap(tasks->classified[at].mutable_result());
      } else {
        result->mutable_model_spec()->Swap(tasks->regressed[at].mutable_model_spec());
        result->mutable_regression_result()->Swap(tasks->regressed[at].mutable_result());
      }
    }
    tasks->done(tasks->status);
  };
  // A task that ends at once must not end the call while others are still to begin: `request` and
  // `caller` live until the last one has begun, because that one is counted too.
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const InferenceTask& task = request.tasks(i);
    if (task.method_name() == kClassify) {
      *tasks->classify[at].mutable_model_spec() = task.model_spec();
      *tasks->classify[at].mutable_input() = request.input();
      ClassifyOn(servable, tasks->classify[at], &tasks->classified[at], caller, end);
    } else {
      *tasks->regress[at].mutable_model_spec() = task.model_spec();
      *tasks->regress[at].mutable_input() = request.input();
      RegressOn(servable, tasks->regress[at], &tasks->regressed[at], caller, end);
    }
  }
}

}  // namespace tenon::serve
