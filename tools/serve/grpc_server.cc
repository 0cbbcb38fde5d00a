#include "tools/serve/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "serving.pb.h"
#include "tools/serve/grpc_calls.h"
#include "tools/serve/text_file.h"

namespace tenon::serve {
namespace {

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> Credentials(const std::string& file) {
  if (file.empty()) return grpc::InsecureServerCredentials();
  tensorflow::serving::SSLConfig config;
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
  Server(Predictor& predictor, KServe& kserve, const Tokens* tokens)
      : services_(MakeServices(predictor, kserve, streams_, tokens)) {}

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
    for (const auto& service : services_) builder.RegisterService(service.get());
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0) {
      if (server_ != nullptr) server_->Shutdown();
      return absl::UnavailableError(absl::StrCat("cannot listen to gRPC on ", options.address));
    }
    return absl::OkStatus();
  }

  int port() const override { return port_; }
  CallCounts counts() const override { return CountedCalls(); }
  void SetServing(bool serving) override {
    if (auto* const health = server_->GetHealthCheckService()) health->SetServingStatus(serving);
  }
  void Shutdown(std::chrono::milliseconds limit) override {
    // Streams may stay open for ever otherwise.
    streams_.Drain();
    server_->Shutdown(std::chrono::system_clock::now() + limit);
  }

 private:
  InferStreams streams_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcOptions& options,
                                                              Predictor& predictor,
                                                              KServe& kserve) {
  auto server = std::make_unique<Server>(predictor, kserve, options.tokens);
  const absl::Status status = server->Listen(options);
  if (!status.ok()) return status;
  return server;
}

}  // namespace tenon::serve
