#include "tools/serve/predict.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/serve/examples.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

using namespace tensorflow::serving;  // NOLINT: most names below are messages

std::set<std::string> NamesOf(const std::vector<TensorSpec>& specs) {
  std::set<std::string> names;
  for (const TensorSpec& spec : specs) names.insert(spec.name);
  return names;
}

std::set<std::string> Without(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> left;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(left, left.end()));
  return left;
}

std::string Listed(const std::set<std::string>& names) { return absl::StrJoin(names, ","); }

// Whether all inputs that are sent are known, and all required ones are sent.
bool InputsFit(const Signature& signature, const PredictRequest& request) {
  size_t known = 0;
  for (const TensorSpec& spec : signature.inputs) {
    if (request.inputs().contains(spec.name)) {
      ++known;
    } else if (!spec.optional) {
      return false;
    }
  }
  return known == request.inputs().size();
}

absl::Status CheckInputs(const Signature& signature, const PredictRequest& request) {
  if (InputsFit(signature, request)) return absl::OkStatus();
  std::set<std::string> sent;
  for (const auto& [name, tensor] : request.inputs()) sent.insert(name);
  const std::set<std::string> known = NamesOf(signature.inputs);
  size_t required = 0;
  for (const TensorSpec& spec : signature.inputs) required += spec.optional ? 0 : 1;
  if (sent.size() > known.size() || sent.size() < required) {
    return absl::InvalidArgumentError(
        absl::StrCat("input size does not match signature: ", sent.size(), "!=", known.size(),
                     " len({", Listed(sent), "}) != len({", Listed(known), "}). Sent extra: {",
                     Listed(Without(sent, known)), "}. Missing but required: {",
                     Listed(Without(known, sent)), "}."));
  }
  for (const std::string& name : sent) {
    if (known.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("input tensor alias not found in signature: ", name,
                       ". Inputs expected to be in the set {", Listed(known), "}."));
    }
  }
  return absl::OkStatus();
}

// The names of the outputs to fetch: those of the filter, or all.
absl::StatusOr<std::vector<std::string>> OutputsOf(const Runnable& runnable,
                                                   const PredictRequest& request) {
  std::vector<std::string> outputs;
  std::set<std::string> seen;
  for (const std::string& name : request.output_filter()) {
    if (runnable.Output(name) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("output tensor alias not found in signature: ", name,
                       " Outputs expected to be in the set {",
                       Listed(NamesOf(runnable.signature.outputs)), "}."));
    }
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError("duplicate output tensor alias: " + name);
    }
    outputs.push_back(name);
  }
  if (outputs.empty()) {
    for (const TensorSpec& spec : runnable.signature.outputs) outputs.push_back(spec.name);
  }
  return outputs;
}

void FillSpec(const std::string& name, const Servable& servable, const std::string& signature,
              ModelSpec* spec) {
  spec->set_name(name);
  spec->mutable_version()->set_value(servable.version());
  if (!signature.empty()) spec->set_signature_name(signature);
}

void FillInfo(const TensorSpec& spec, tensorflow::TensorInfo* info) {
  info->set_name(spec.tensor);
  info->set_dtype(static_cast<tensorflow::DataType>(spec.dtype));
  auto* shape = info->mutable_tensor_shape();
  if (!spec.dims.has_value()) {
    shape->set_unknown_rank(true);
    return;
  }
  for (const int64_t dim : *spec.dims) shape->add_dim()->set_size(dim);
}

absl::Status Await(const std::function<void(Done)>& call) {
  std::promise<absl::Status> promise;
  auto result = promise.get_future();
  call([&promise](absl::Status status) { promise.set_value(std::move(status)); });
  return result.get();
}

}  // namespace

SignatureDefMap SignaturesOf(const Servable& servable) {
  SignatureDefMap map;
  for (const auto& [name, runnable] : servable.signatures()) {
    tensorflow::SignatureDef& def = (*map.mutable_signature_def())[name];
    def.set_method_name(runnable->signature.method);
    for (const TensorSpec& spec : runnable->signature.inputs) {
      FillInfo(spec, &(*def.mutable_inputs())[spec.name]);
    }
    for (const TensorSpec& spec : runnable->signature.outputs) {
      FillInfo(spec, &(*def.mutable_outputs())[spec.name]);
    }
  }
  return map;
}

void Predictor::Predict(const PredictRequest& request, PredictResponse* response, Caller caller,
                        Done done) {
  if (!request.has_model_spec()) return done(absl::InvalidArgumentError("Missing ModelSpec"));
  const auto servable = repository_.Find(request.model_spec());
  if (!servable.ok()) return done(servable.status());
  PredictOn(*servable, request, response, std::move(caller), std::move(done));
}

void Predictor::PredictOn(const std::shared_ptr<Servable>& servable, const PredictRequest& request,
                          PredictResponse* response, Caller caller, Done done) {
  const std::string& asked = request.model_spec().signature_name();
  const std::string signature = asked.empty() ? kDefaultSignature : asked;
  Runnable* const runnable = servable->Find(signature);
  if (runnable == nullptr) {
    return done(absl::FailedPreconditionError(
        absl::StrCat("Serving signature key \"", signature, "\" not found.")));
  }
  const absl::Status inputs = CheckInputs(runnable->signature, request);
  if (!inputs.ok()) return done(inputs);
  auto outputs = OutputsOf(*runnable, request);
  if (!outputs.ok()) return done(outputs.status());

  auto job = std::make_unique<Job>();
  job->servable = servable;
  job->runnable = runnable;
  for (const TensorSpec& spec : runnable->signature.inputs) {
    const auto found = request.inputs().find(spec.name);
    if (found == request.inputs().end()) continue;
    auto tensor = FromProto(spec.name, found->second);
    if (!tensor.ok()) return done(tensor.status());
    job->inputs.emplace_back(spec.name, *std::move(tensor));
  }
  FillSpec(servable->name(), *servable, signature, response->mutable_model_spec());
  job->outputs = *std::move(outputs);
  job->arrived = caller.arrived;
  job->deadline = caller.deadline;
  job->cancelled = std::move(caller.cancelled);
  job->done = [this, response, names = job->outputs,
               done = std::move(done)](absl::StatusOr<std::vector<Tensor>> results) {
    if (!results.ok()) return done(results.status());
    for (size_t i = 0; i < names.size(); ++i) {
      ToProto((*results)[i], as_content_, &(*response->mutable_outputs())[names[i]]);
    }
    done(absl::OkStatus());
  };
  scheduler_.Submit(std::move(job));
}

void Predictor::Classify(const ClassificationRequest& request, ClassificationResponse* response,
                         Caller caller, Done done) {
  if (!request.has_model_spec()) return done(absl::InvalidArgumentError("Missing ModelSpec"));
  const auto servable = repository_.Find(request.model_spec());
  if (!servable.ok()) return done(servable.status());
  ClassifyOn(*servable, request, response, std::move(caller), std::move(done));
}

void Predictor::ClassifyOn(const std::shared_ptr<Servable>& servable,
                           const ClassificationRequest& request, ClassificationResponse* response,
                           Caller caller, Done done) {
  auto job = ClassificationJob(servable, request.model_spec().signature_name(), request.input());
  if (!job.ok()) return done(job.status());
  FillSpec(servable->name(), *servable, (*job)->runnable->signature.name,
           response->mutable_model_spec());
  (*job)->arrived = caller.arrived;
  (*job)->deadline = caller.deadline;
  (*job)->cancelled = std::move(caller.cancelled);
  (*job)->done = [response, names = (*job)->outputs,
                  examples = (*job)->inputs.front().second.num_elements(),
                  done = std::move(done)](absl::StatusOr<std::vector<Tensor>> results) {
    done(results.ok() ? FillClassifications(names, *results, examples, response->mutable_result())
                      : results.status());
  };
  scheduler_.Submit(*std::move(job));
}

void Predictor::Regress(const RegressionRequest& request, RegressionResponse* response,
                        Caller caller, Done done) {
  if (!request.has_model_spec()) return done(absl::InvalidArgumentError("Missing ModelSpec"));
  const auto servable = repository_.Find(request.model_spec());
  if (!servable.ok()) return done(servable.status());
  RegressOn(*servable, request, response, std::move(caller), std::move(done));
}

void Predictor::RegressOn(const std::shared_ptr<Servable>& servable,
                          const RegressionRequest& request, RegressionResponse* response,
                          Caller caller, Done done) {
  auto job = RegressionJob(servable, request.model_spec().signature_name(), request.input());
  if (!job.ok()) return done(job.status());
  FillSpec(servable->name(), *servable, (*job)->runnable->signature.name,
           response->mutable_model_spec());
  (*job)->arrived = caller.arrived;
  (*job)->deadline = caller.deadline;
  (*job)->cancelled = std::move(caller.cancelled);
  (*job)->done = [response, examples = (*job)->inputs.front().second.num_elements(),
                  done = std::move(done)](absl::StatusOr<std::vector<Tensor>> results) {
    done(results.ok() ? FillRegressions(*results, examples, response->mutable_result())
                      : results.status());
  };
  scheduler_.Submit(*std::move(job));
}

absl::Status Predictor::Replay(const std::shared_ptr<Servable>& servable,
                               const PredictionLog& log) {
  switch (log.log_type_case()) {
    case PredictionLog::kPredictLog: {
      PredictResponse response;
      return Await([&](Done done) {
        PredictOn(servable, log.predict_log().request(), &response, {}, std::move(done));
      });
    }
    case PredictionLog::kClassifyLog: {
      ClassificationResponse response;
      return Await([&](Done done) {
        ClassifyOn(servable, log.classify_log().request(), &response, {}, std::move(done));
      });
    }
    case PredictionLog::kRegressLog: {
      RegressionResponse response;
      return Await([&](Done done) {
        RegressOn(servable, log.regress_log().request(), &response, {}, std::move(done));
      });
    }
    case PredictionLog::kMultiInferenceLog: {
      MultiInferenceResponse response;
      return Await([&](Done done) {
        MultiInferenceOn(servable, log.multi_inference_log().request(), &response, {},
                         std::move(done));
      });
    }
    default:
      return absl::UnimplementedError("Unsupported log_type for warmup");
  }
}

absl::Status Predictor::Metadata(const GetModelMetadataRequest& request,
                                 GetModelMetadataResponse* response) const {
  if (request.metadata_field_size() == 0) {
    return absl::InvalidArgumentError(
        "GetModelMetadataRequest must specify at least one metadata_field");
  }
  for (const std::string& field : request.metadata_field()) {
    if (field != "signature_def") {
      return absl::InvalidArgumentError(
          absl::StrCat("Metadata field ", field, " is not supported"));
    }
  }
  if (!request.has_model_spec()) return absl::InvalidArgumentError("Missing ModelSpec");
  const auto servable = repository_.Find(request.model_spec());
  if (!servable.ok()) return servable.status();
  FillSpec((*servable)->name(), **servable, "", response->mutable_model_spec());
  (*response->mutable_metadata())["signature_def"].PackFrom(SignaturesOf(**servable));
  return absl::OkStatus();
}

absl::Status Predictor::Status(const GetModelStatusRequest& request,
                               GetModelStatusResponse* response) const {
  if (!request.has_model_spec()) return absl::InvalidArgumentError("Missing ModelSpec");
  const auto statuses = repository_.Statuses(request.model_spec());
  if (!statuses.ok()) return statuses.status();
  for (const VersionStatus& status : *statuses) {
    ModelVersionStatus* const out = response->add_model_version_status();
    out->set_version(status.version);
    out->set_state(static_cast<ModelVersionStatus::State>(status.state));
    out->mutable_status()->set_error_code(static_cast<ErrorCode>(status.status.code()));
    out->mutable_status()->set_error_message(std::string(status.status.message()));
  }
  return absl::OkStatus();
}

absl::Status Predictor::Reload(const ReloadConfigRequest& request, ReloadConfigResponse* response) {
  const absl::Status status = repository_.Configure(request.config());
  response->mutable_status()->set_error_code(static_cast<ErrorCode>(status.code()));
  response->mutable_status()->set_error_message(std::string(status.message()));
  return status;
}

}  // namespace tenon::serve
