#include "tools/serve/grpc_calls.h"

#include <atomic>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "serving.pb.h"
#include "tools/serve/metrics.h"

namespace tenon::serve {
namespace {

using namespace tensorflow::serving;  // NOLINT: all names below are messages

std::atomic<uint64_t> started_calls{0}, answered_calls{0};

// Counts a call when it ends, and logs it if the caller traces it.
class Finisher {
 public:
  Finisher(GrpcCall& call, const std::string& model, const char* api, Done done)
      : model_(model), api_(api), trace_(TraceOf(call)), done_(std::move(done)) {}
  void operator()(const absl::Status& status) const {
    CountCall(model_, api_, trace_, status, start_);
    done_(status);
  }

 private:
  std::string model_;
  const char* api_;
  Trace trace_;
  Done done_;
  Clock::time_point start_ = Clock::now();
};

// The model that a request is for.
template <typename Request>
const std::string& ModelOf(const Request& request) {
  return request.model_spec().name();
}
const std::string& ModelOf(const inference::ModelInferRequest& request) {
  return request.model_name();
}
const std::string& ModelOf(const MultiInferenceRequest& request) {
  const auto& first =
      request.tasks().empty() ? InferenceTask::default_instance() : request.tasks(0);
  return first.model_spec().name();
}

// Adds the methods of one service.
class Service {
 public:
  Service(std::string name, const Tokens* tokens, GrpcMethods& methods)
      : name_(std::move(name)), tokens_(tokens), methods_(methods) {}

  // `allowed` says whether the caller may call at all.
  using Begin = std::function<void(const std::shared_ptr<GrpcCall>&, const absl::Status& allowed)>;
  void AddStream(const char* method, Begin begin) {
    Add(method,
        [tokens = tokens_, begin = std::move(begin)](const std::shared_ptr<GrpcCall>& call) {
          begin(call, Allowed(tokens, *call));
        });
  }

  // A call that is answered at once, with what `answer(request, response)` returns, to anyone.
  template <typename Request, typename Response, typename Answer>
  void AddOpen(const char* method, Answer answer) {
    Add(method,
        Unary<Request, Response>(
            [answer = std::move(answer)](GrpcCall&, const Request& request, Response* response,
                                         const Done& done) { done(answer(request, response)); }));
  }
  // The same, to those who may call.
  template <typename Request, typename Response, typename Answer>
  void AddBrief(const char* method, Answer answer) {
    Add(method, Unary<Request, Response>([tokens = tokens_, answer = std::move(answer)](
                                             GrpcCall& call, const Request& request,
                                             Response* response, const Done& done) {
          const absl::Status allowed = Allowed(tokens, call);
          done(allowed.ok() ? answer(request, response) : allowed);
        }));
  }
  // A call that `run(request, response, caller, done)` answers, and that is counted.
  template <typename Request, typename Response, typename Run>
  void AddRun(const char* method, Run run) {
    Add(method, Unary<Request, Response>(
                    [tokens = tokens_, method, run = std::move(run)](
                        GrpcCall& call, const Request& request, Response* response, Done done) {
                      const Finisher finish(call, ModelOf(request), method, std::move(done));
                      ++started_calls;
                      const absl::Status allowed = Allowed(tokens, call);
                      if (!allowed.ok()) return finish(allowed);
                      run(request, response, call.caller(), finish);
                    }));
  }
  // A call that `answer(request, response)` answers on a thread of its own, as it takes long.
  template <typename Request, typename Response, typename Answer>
  void AddSlow(const char* method, Answer answer) {
    Add(method, Unary<Request, Response>(
                    [tokens = tokens_, answer = std::move(answer)](
                        GrpcCall& call, const Request& request, Response* response, Done done) {
                      const absl::Status allowed = Allowed(tokens, call);
                      if (!allowed.ok()) return done(allowed);
                      // `done` keeps request and response.
                      std::thread([&answer, &request, response, done = std::move(done)] {
                        done(answer(request, response));
                      }).detach();
                    }));
  }

 private:
  static absl::Status Allowed(const Tokens* tokens, const GrpcCall& call) {
    if (tokens == nullptr || tokens->Allows(call.Metadata("authorization"))) {
      return absl::OkStatus();
    }
    return absl::UnauthenticatedError("a valid bearer token is needed");
  }
  void Add(const char* method, GrpcHandler handler) {
    methods_[absl::StrCat("/", name_, "/", method)] = std::move(handler);
  }

  const std::string name_;
  const Tokens* const tokens_;
  GrpcMethods& methods_;
};

void AddPrediction(Predictor& predictor, Service service) {
  service.AddRun<PredictRequest, PredictResponse>(
      "Predict", [&](const auto& request, auto* response, Caller caller, Done done) {
        predictor.Predict(request, response, std::move(caller), std::move(done));
      });
  service.AddRun<ClassificationRequest, ClassificationResponse>(
      "Classify", [&](const auto& request, auto* response, Caller caller, Done done) {
        predictor.Classify(request, response, std::move(caller), std::move(done));
      });
  service.AddRun<RegressionRequest, RegressionResponse>(
      "Regress", [&](const auto& request, auto* response, Caller caller, Done done) {
        predictor.Regress(request, response, std::move(caller), std::move(done));
      });
  service.AddRun<MultiInferenceRequest, MultiInferenceResponse>(
      "MultiInference", [&](const auto& request, auto* response, Caller caller, Done done) {
        predictor.MultiInference(request, response, std::move(caller), std::move(done));
      });
  service.AddBrief<GetModelMetadataRequest, GetModelMetadataResponse>(
      "GetModelMetadata",
      [&](const auto& request, auto* response) { return predictor.Metadata(request, response); });
}

void AddModel(Predictor& predictor, Service service) {
  service.AddBrief<GetModelStatusRequest, GetModelStatusResponse>(
      "GetModelStatus",
      [&](const auto& request, auto* response) { return predictor.Status(request, response); });
  service.AddSlow<ReloadConfigRequest, ReloadConfigResponse>(
      "HandleReloadConfigRequest",
      [&](const auto& request, auto* response) { return predictor.Reload(request, response); });
}

void AddInference(KServe& kserve, OpenStreams& streams, Service service) {
  using namespace inference;  // NOLINT: all names below are messages
  // Health needs no token.
  service.AddOpen<ServerLiveRequest, ServerLiveResponse>("ServerLive",
                                                         [](const auto&, auto* response) {
                                                           response->set_live(true);
                                                           return absl::OkStatus();
                                                         });
  service.AddOpen<ServerReadyRequest, ServerReadyResponse>("ServerReady",
                                                           [&](const auto&, auto* response) {
                                                             response->set_ready(kserve.Ready());
                                                             return absl::OkStatus();
                                                           });
  service.AddBrief<ModelReadyRequest, ModelReadyResponse>(
      "ModelReady", [&](const auto& request, auto* response) {
        response->set_ready(kserve.ModelReady(request.name(), request.version()));
        return absl::OkStatus();
      });
  service.AddBrief<ServerMetadataRequest, ServerMetadataResponse>("ServerMetadata",
                                                                  [&](const auto&, auto* response) {
                                                                    kserve.ServerMetadata(response);
                                                                    return absl::OkStatus();
                                                                  });
  service.AddBrief<ModelMetadataRequest, ModelMetadataResponse>(
      "ModelMetadata", [&](const auto& request, auto* response) {
        return kserve.ModelMetadata(request.name(), request.version(), response);
      });
  service.AddRun<ModelInferRequest, ModelInferResponse>(
      "ModelInfer", [&](const auto& request, auto* response, Caller caller, Done done) {
        kserve.Infer(request, response, std::move(caller), std::move(done));
      });
  service.AddStream("ModelStreamInfer",
                    [&](const std::shared_ptr<GrpcCall>& call, const absl::Status& allowed) {
                      if (!allowed.ok()) return call->Finish(ToGrpc(allowed));
                      StartInferStream(kserve, call, streams);
                    });
  service.AddBrief<ModelConfigRequest, ModelConfigResponse>(
      "ModelConfig", [&](const auto& request, auto* response) {
        return kserve.ModelConfig(request.name(), request.version(), response->mutable_config());
      });
  service.AddBrief<ModelStatisticsRequest, ModelStatisticsResponse>(
      "ModelStatistics", [&](const auto& request, auto* response) {
        return kserve.Statistics(request.name(), request.version(), response);
      });
  service.AddBrief<RepositoryIndexRequest, RepositoryIndexResponse>(
      "RepositoryIndex", [&](const auto& request, auto* response) {
        kserve.Index(request.ready(), response);
        return absl::OkStatus();
      });
}

}  // namespace

Trace TraceOf(GrpcCall& call) {
  Trace trace = Trace::Parse(call.Metadata(kTraceHeader));
  if (!trace.header.empty()) call.AddInitialMetadata(kTraceHeader, trace.header);
  return trace;
}

CallCounts CountedCalls() { return {started_calls, answered_calls}; }

void CountCall(const std::string& model, const char* api, const Trace& trace,
               const absl::Status& status, Clock::time_point start) {
  const std::chrono::duration<double, std::micro> took = Clock::now() - start;
  // Names of models that do not exist would be series without end.
  const bool known = status.code() != absl::StatusCode::kNotFound &&
                     status.code() != absl::StatusCode::kUnauthenticated;
  Metrics::Get().Request(known ? model : "", api, "GRPC", status, took.count());
  if (status.ok()) ++answered_calls;
  LogTraced(trace, api, model, absl::StatusCodeToString(status.code()), !status.ok(), took.count());
}

void AddMethods(Predictor& predictor, KServe& kserve, OpenStreams& streams, const Tokens* tokens,
                GrpcMethods& methods) {
  AddPrediction(predictor, {"tensorflow.serving.PredictionService", tokens, methods});
  AddModel(predictor, {"tensorflow.serving.ModelService", tokens, methods});
  AddInference(kserve, streams, {"inference.GRPCInferenceService", tokens, methods});
}

}  // namespace tenon::serve
