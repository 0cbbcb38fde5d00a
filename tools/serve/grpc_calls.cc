#include "tools/serve/grpc_calls.h"

#include <atomic>
#include <thread>

#include "serving.grpc.pb.h"
#include "tools/serve/metrics.h"

namespace tenon::serve {
namespace {

using namespace tensorflow::serving;  // NOLINT: all names below are messages and services
using grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

std::atomic<uint64_t> started_calls{0}, answered_calls{0};

// Ends a call, counts it, and logs it if the caller traces it.
class Finisher {
 public:
  Finisher(CallbackServerContext* context, const std::string& model, const char* api)
      : reactor_(context->DefaultReactor()),
        model_(model),
        api_(api),
        trace_(Trace::Parse(Metadata(context, kTraceHeader))) {
    if (!trace_.header.empty()) context->AddInitialMetadata(kTraceHeader, trace_.header);
  }
  Reactor* reactor() const { return reactor_; }
  void operator()(const absl::Status& status) const {
    CountCall(model_, api_, trace_, status, start_);
    reactor_->Finish(ToGrpc(status));
  }

 private:
  Reactor* reactor_;
  std::string model_;
  const char* api_;
  Trace trace_;
  Clock::time_point start_ = Clock::now();
};

// Who may call, for every service.
class Guarded {
 public:
  explicit Guarded(const Tokens* tokens) : tokens_(tokens) {}

 protected:
  absl::Status Allowed(const CallbackServerContext* context) const {
    if (tokens_ == nullptr || tokens_->Allows(Metadata(context, "authorization"))) {
      return absl::OkStatus();
    }
    return absl::UnauthenticatedError("a valid bearer token is needed");
  }
  // Ends the call at once with what `call` returns.
  template <typename Call>
  Reactor* Answer(CallbackServerContext* context, const Call& call) const {
    Reactor* const reactor = context->DefaultReactor();
    const absl::Status allowed = Allowed(context);
    reactor->Finish(ToGrpc(allowed.ok() ? call() : allowed));
    return reactor;
  }
  // Begins the call with `begin`, which gets the Finisher to end it with.
  template <typename Begin>
  Reactor* Start(CallbackServerContext* context, const std::string& model, const char* api,
                 const Begin& begin) const {
    const Finisher finish(context, model, api);
    ++started_calls;
    const absl::Status allowed = Allowed(context);
    if (allowed.ok()) {
      begin(finish);
    } else {
      finish(allowed);
    }
    return finish.reactor();
  }

 private:
  const Tokens* const tokens_;
};

class PredictionCalls final : public PredictionService::CallbackService, Guarded {
 public:
  PredictionCalls(Predictor& predictor, const Tokens* tokens)
      : Guarded(tokens), predictor_(predictor) {}

  Reactor* Predict(CallbackServerContext* context, const PredictRequest* request,
                   PredictResponse* response) override {
    return Start(context, request->model_spec().name(), "Predict", [&](const Finisher& finish) {
      predictor_.Predict(*request, response, CallerOf(context), finish);
    });
  }
  Reactor* Classify(CallbackServerContext* context, const ClassificationRequest* request,
                    ClassificationResponse* response) override {
    return Start(context, request->model_spec().name(), "Classify", [&](const Finisher& finish) {
      predictor_.Classify(*request, response, CallerOf(context), finish);
    });
  }
  Reactor* Regress(CallbackServerContext* context, const RegressionRequest* request,
                   RegressionResponse* response) override {
    return Start(context, request->model_spec().name(), "Regress", [&](const Finisher& finish) {
      predictor_.Regress(*request, response, CallerOf(context), finish);
    });
  }
  Reactor* MultiInference(CallbackServerContext* context, const MultiInferenceRequest* request,
                          MultiInferenceResponse* response) override {
    const std::string model = request->tasks().empty() ? "" : request->tasks(0).model_spec().name();
    return Start(context, model, "MultiInference", [&](const Finisher& finish) {
      predictor_.MultiInference(*request, response, CallerOf(context), finish);
    });
  }
  Reactor* GetModelMetadata(CallbackServerContext* context, const GetModelMetadataRequest* request,
                            GetModelMetadataResponse* response) override {
    return Answer(context, [&] { return predictor_.Metadata(*request, response); });
  }

 private:
  Predictor& predictor_;
};

class ModelCalls final : public ModelService::CallbackService, Guarded {
 public:
  ModelCalls(Predictor& predictor, const Tokens* tokens) : Guarded(tokens), predictor_(predictor) {}

  Reactor* GetModelStatus(CallbackServerContext* context, const GetModelStatusRequest* request,
                          GetModelStatusResponse* response) override {
    return Answer(context, [&] { return predictor_.Status(*request, response); });
  }
  Reactor* HandleReloadConfigRequest(CallbackServerContext* context,
                                     const ReloadConfigRequest* request,
                                     ReloadConfigResponse* response) override {
    Reactor* const reactor = context->DefaultReactor();
    const absl::Status allowed = Allowed(context);
    if (!allowed.ok()) {
      reactor->Finish(ToGrpc(allowed));
      return reactor;
    }
    // It takes long, and gRPC has few threads.
    std::thread([this, request, response, reactor] {
      reactor->Finish(ToGrpc(predictor_.Reload(*request, response)));
    }).detach();
    return reactor;
  }

 private:
  Predictor& predictor_;
};

class KServeCalls final : public inference::GRPCInferenceService::CallbackService, Guarded {
 public:
  KServeCalls(KServe& kserve, InferStreams& streams, const Tokens* tokens)
      : Guarded(tokens), kserve_(kserve), streams_(streams) {}

  // Health needs no token.
  Reactor* ServerLive(CallbackServerContext* context, const inference::ServerLiveRequest*,
                      inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return Ready(context);
  }
  Reactor* ServerReady(CallbackServerContext* context, const inference::ServerReadyRequest*,
                       inference::ServerReadyResponse* response) override {
    response->set_ready(kserve_.Ready());
    return Ready(context);
  }
  Reactor* ModelReady(CallbackServerContext* context, const inference::ModelReadyRequest* request,
                      inference::ModelReadyResponse* response) override {
    return Answer(context, [&] {
      response->set_ready(kserve_.ModelReady(request->name(), request->version()));
      return absl::OkStatus();
    });
  }
  Reactor* ServerMetadata(CallbackServerContext* context, const inference::ServerMetadataRequest*,
                          inference::ServerMetadataResponse* response) override {
    return Answer(context, [&] {
      kserve_.ServerMetadata(response);
      return absl::OkStatus();
    });
  }
  Reactor* ModelMetadata(CallbackServerContext* context,
                         const inference::ModelMetadataRequest* request,
                         inference::ModelMetadataResponse* response) override {
    return Answer(context, [&] {
      return kserve_.ModelMetadata(request->name(), request->version(), response);
    });
  }
  Reactor* ModelInfer(CallbackServerContext* context, const inference::ModelInferRequest* request,
                      inference::ModelInferResponse* response) override {
    return Start(context, request->model_name(), "ModelInfer", [&](const Finisher& finish) {
      kserve_.Infer(*request, response, CallerOf(context), finish);
    });
  }
  grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>*
  ModelStreamInfer(CallbackServerContext* context) override {
    return streams_.Start(kserve_, context, Allowed(context));
  }
  Reactor* ModelConfig(CallbackServerContext* context, const inference::ModelConfigRequest* request,
                       inference::ModelConfigResponse* response) override {
    return Answer(context, [&] {
      return kserve_.ModelConfig(request->name(), request->version(), response->mutable_config());
    });
  }
  Reactor* ModelStatistics(CallbackServerContext* context,
                           const inference::ModelStatisticsRequest* request,
                           inference::ModelStatisticsResponse* response) override {
    return Answer(
        context, [&] { return kserve_.Statistics(request->name(), request->version(), response); });
  }
  Reactor* RepositoryIndex(CallbackServerContext* context,
                           const inference::RepositoryIndexRequest* request,
                           inference::RepositoryIndexResponse* response) override {
    return Answer(context, [&] {
      kserve_.Index(request->ready(), response);
      return absl::OkStatus();
    });
  }

 private:
  static Reactor* Ready(CallbackServerContext* context) {
    Reactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  KServe& kserve_;
  InferStreams& streams_;
};

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  // Messages travel in a header, whose size clients limit.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message().substr(0, 1024)));
}

Caller CallerOf(CallbackServerContext* context) {
  Caller caller;
  const auto deadline = context->deadline();
  if (deadline != std::chrono::system_clock::time_point::max()) {
    const auto left = deadline - std::chrono::system_clock::now();
    // Far deadlines overflow when they are converted.
    if (left < std::chrono::hours(24 * 365)) caller.deadline = Clock::now() + left;
  }
  caller.cancelled = [context] { return context->IsCancelled(); };
  return caller;
}

absl::string_view Metadata(const CallbackServerContext* context, const char* name) {
  const auto& metadata = context->client_metadata();
  const auto found = metadata.find(name);
  if (found == metadata.end()) return "";
  return {found->second.data(), found->second.size()};
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

std::vector<std::unique_ptr<grpc::Service>> MakeServices(Predictor& predictor, KServe& kserve,
                                                         InferStreams& streams,
                                                         const Tokens* tokens) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(std::make_unique<PredictionCalls>(predictor, tokens));
  services.push_back(std::make_unique<ModelCalls>(predictor, tokens));
  services.push_back(std::make_unique<KServeCalls>(kserve, streams, tokens));
  return services;
}

}  // namespace tenon::serve
