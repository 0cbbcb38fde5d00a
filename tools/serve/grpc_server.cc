#include "tools/serve/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "inference.grpc.pb.h"
#include "serving.grpc.pb.h"
#include "tools/serve/metrics.h"
#include "tools/serve/text_file.h"

namespace tenon::serve {
namespace {

using namespace tensorflow::serving;  // NOLINT: all names below are messages and services
using grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

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

Reactor* Answer(CallbackServerContext* context, const absl::Status& status) {
  Reactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpc(status));
  return reactor;
}

// Ends a call, and counts it.
class Finisher {
 public:
  Finisher(CallbackServerContext* context, const std::string& model, const char* api)
      : reactor_(context->DefaultReactor()), model_(model), api_(api) {}
  Reactor* reactor() const { return reactor_; }
  void operator()(const absl::Status& status) const {
    const std::chrono::duration<double, std::micro> took = Clock::now() - start_;
    // Names of models that do not exist would be series without end.
    const bool known = status.code() != absl::StatusCode::kNotFound;
    Metrics::Get().Request(known ? model_ : "", api_, "GRPC", status, took.count());
    reactor_->Finish(ToGrpc(status));
  }

 private:
  Reactor* reactor_;
  std::string model_;
  const char* api_;
  Clock::time_point start_ = Clock::now();
};

class PredictionCalls final : public PredictionService::CallbackService {
 public:
  explicit PredictionCalls(Predictor& predictor) : predictor_(predictor) {}

  Reactor* Predict(CallbackServerContext* context, const PredictRequest* request,
                   PredictResponse* response) override {
    const Finisher finish(context, request->model_spec().name(), "Predict");
    predictor_.Predict(*request, response, CallerOf(context), finish);
    return finish.reactor();
  }
  Reactor* Classify(CallbackServerContext* context, const ClassificationRequest* request,
                    ClassificationResponse* response) override {
    const Finisher finish(context, request->model_spec().name(), "Classify");
    predictor_.Classify(*request, response, CallerOf(context), finish);
    return finish.reactor();
  }
  Reactor* Regress(CallbackServerContext* context, const RegressionRequest* request,
                   RegressionResponse* response) override {
    const Finisher finish(context, request->model_spec().name(), "Regress");
    predictor_.Regress(*request, response, CallerOf(context), finish);
    return finish.reactor();
  }
  Reactor* GetModelMetadata(CallbackServerContext* context, const GetModelMetadataRequest* request,
                            GetModelMetadataResponse* response) override {
    return Answer(context, predictor_.Metadata(*request, response));
  }

 private:
  Predictor& predictor_;
};

class ModelCalls final : public ModelService::CallbackService {
 public:
  explicit ModelCalls(Predictor& predictor) : predictor_(predictor) {}

  Reactor* GetModelStatus(CallbackServerContext* context, const GetModelStatusRequest* request,
                          GetModelStatusResponse* response) override {
    return Answer(context, predictor_.Status(*request, response));
  }
  Reactor* HandleReloadConfigRequest(CallbackServerContext* context,
                                     const ReloadConfigRequest* request,
                                     ReloadConfigResponse* response) override {
    // It takes long, and gRPC has few threads.
    Reactor* const reactor = context->DefaultReactor();
    std::thread([this, request, response, reactor] {
      reactor->Finish(ToGrpc(predictor_.Reload(*request, response)));
    }).detach();
    return reactor;
  }

 private:
  Predictor& predictor_;
};

class KServeCalls final : public inference::GRPCInferenceService::CallbackService {
 public:
  explicit KServeCalls(KServe& kserve) : kserve_(kserve) {}

  Reactor* ServerLive(CallbackServerContext* context, const inference::ServerLiveRequest*,
                      inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return Answer(context, absl::OkStatus());
  }
  Reactor* ServerReady(CallbackServerContext* context, const inference::ServerReadyRequest*,
                       inference::ServerReadyResponse* response) override {
    response->set_ready(kserve_.Ready());
    return Answer(context, absl::OkStatus());
  }
  Reactor* ModelReady(CallbackServerContext* context, const inference::ModelReadyRequest* request,
                      inference::ModelReadyResponse* response) override {
    response->set_ready(kserve_.ModelReady(request->name(), request->version()));
    return Answer(context, absl::OkStatus());
  }
  Reactor* ServerMetadata(CallbackServerContext* context, const inference::ServerMetadataRequest*,
                          inference::ServerMetadataResponse* response) override {
    kserve_.ServerMetadata(response);
    return Answer(context, absl::OkStatus());
  }
  Reactor* ModelMetadata(CallbackServerContext* context,
                         const inference::ModelMetadataRequest* request,
                         inference::ModelMetadataResponse* response) override {
    return Answer(context, kserve_.ModelMetadata(request->name(), request->version(), response));
  }
  Reactor* ModelInfer(CallbackServerContext* context, const inference::ModelInferRequest* request,
                      inference::ModelInferResponse* response) override {
    const Finisher finish(context, request->model_name(), "ModelInfer");
    kserve_.Infer(*request, response, CallerOf(context), finish);
    return finish.reactor();
  }
  Reactor* ModelConfig(CallbackServerContext* context, const inference::ModelConfigRequest* request,
                       inference::ModelConfigResponse* response) override {
    return Answer(context, kserve_.ModelConfig(request->name(), request->version(),
                                               response->mutable_config()));
  }
  Reactor* ModelStatistics(CallbackServerContext* context,
                           const inference::ModelStatisticsRequest* request,
                           inference::ModelStatisticsResponse* response) override {
    return Answer(context, kserve_.Statistics(request->name(), request->version(), response));
  }
  Reactor* RepositoryIndex(CallbackServerContext* context,
                           const inference::RepositoryIndexRequest* request,
                           inference::RepositoryIndexResponse* response) override {
    kserve_.Index(request->ready(), response);
    return Answer(context, absl::OkStatus());
  }

 private:
  KServe& kserve_;
};

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> Credentials(const std::string& file) {
  if (file.empty()) return grpc::InsecureServerCredentials();
  SSLConfig config;
  const absl::Status read = ReadTextProto(file, &config);
  if (!read.ok()) return read;
  grpc::SslServerCredentialsOptions options(
      config.client_verify() ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                             : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  options.pem_root_certs = config.custom_ca();
  options.pem_key_cert_pairs.push_back({config.server_key(), config.server_cert()});
  return grpc::SslServerCredentials(options);
}

class Server final : public GrpcServer {
 public:
  Server(Predictor& predictor, KServe& kserve)
      : prediction_(predictor), model_(predictor), kserve_(kserve) {}

  absl::Status Listen(const GrpcOptions& options) {
    const auto credentials = Credentials(options.ssl_config_file);
    if (!credentials.ok()) return credentials.status();
    grpc::EnableDefaultHealthCheckService(options.health);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options.address, *credentials, &port_);
    if (!options.socket.empty()) {
      builder.AddListeningPort("unix:" + options.socket, grpc::InsecureServerCredentials());
    }
    builder.SetMaxReceiveMessageSize(options.max_message_bytes);
    builder.SetMaxSendMessageSize(-1);
    // Two servers on one port would each get half of the requests.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    if (options.max_threads > 0) {
      grpc::ResourceQuota quota("server");
      quota.SetMaxThreads(options.max_threads);
      builder.SetResourceQuota(quota);
    }
    for (absl::string_view argument :
         absl::StrSplit(options.channel_arguments, ',', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(argument, absl::MaxSplits('=', 1));
      int number;
      if (absl::SimpleAtoi(pair.second, &number)) {
        builder.AddChannelArgument(pair.first, number);
      } else {
        builder.AddChannelArgument(pair.first, pair.second);
      }
    }
    builder.RegisterService(&prediction_);
    builder.RegisterService(&model_);
    builder.RegisterService(&kserve_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0) {
      if (server_ != nullptr) server_->Shutdown();
      return absl::UnavailableError(absl::StrCat("cannot listen to gRPC on ", options.address));
    }
    return absl::OkStatus();
  }

  int port() const override { return port_; }
  void SetServing(bool serving) override {
    if (auto* const health = server_->GetHealthCheckService()) health->SetServingStatus(serving);
  }
  void Shutdown(std::chrono::milliseconds limit) override {
    server_->Shutdown(std::chrono::system_clock::now() + limit);
  }

 private:
  PredictionCalls prediction_;
  ModelCalls model_;
  KServeCalls kserve_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcOptions& options,
                                                              Predictor& predictor,
                                                              KServe& kserve) {
  auto server = std::make_unique<Server>(predictor, kserve);
  const absl::Status status = server->Listen(options);
  if (!status.ok()) return status;
  return server;
}

}  // namespace tenon::serve
