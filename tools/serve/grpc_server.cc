#include "tools/serve/grpc_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "serving.pb.h"
#include "tools/serve/grpc_call.h"
#include "tools/serve/grpc_calls.h"
#include "tools/serve/grpc_health.h"
#include "tools/serve/grpc_queue.h"
#include "tools/serve/grpc_reflection.h"
#include "tools/serve/grpc_streams.h"
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
  Server(Predictor& predictor, KServe& kserve, const GrpcOptions& options) : health_(streams_) {
    AddMethods(predictor, kserve, streams_, options.tokens, calls_.methods);
    if (options.health) health_.AddMethods(calls_.methods);
    AddReflection(streams_, calls_.methods);
  }
  ~Server() override { Shutdown(std::chrono::milliseconds(0)); }

  absl::Status Listen(const GrpcOptions& options) {
    const auto credentials = Credentials(options.ssl_config_file);
    if (!credentials.ok()) return credentials.status();
    // Ours is among the methods.
    grpc::EnableDefaultHealthCheckService(false);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options.address, *credentials, &port_);
    if (!options.socket.empty()) {
      builder.AddListeningPort("unix:" + options.socket, grpc::InsecureServerCredentials());
    }
    builder.SetMaxReceiveMessageSize(options.max_message_bytes);
    builder.SetMaxSendMessageSize(-1);
    // Two servers on one port would each get half of the requests.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
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
    builder.RegisterAsyncGenericService(&calls_.service);
    auto queue = builder.AddCompletionQueue();
    calls_.queue = queue.get();
    server_ = builder.BuildAndStart();
    threads_.emplace(std::move(queue), options.threads, options.poll);
    if (server_ == nullptr || port_ == 0) {
      return absl::UnavailableError(absl::StrCat("cannot listen to gRPC on ", options.address));
    }
    constexpr int kWaiting = 16;  // calls that gRPC may hand over before the next is asked for
    for (int i = 0; i < kWaiting; ++i) GrpcCall::Listen(calls_);
    return absl::OkStatus();
  }

  int port() const override { return port_; }
  CallCounts counts() const override { return CountedCalls(); }
  void SetServing(bool serving) override { health_.Set(serving); }
  void Shutdown(std::chrono::milliseconds limit) override {
    if (server_ != nullptr) {
      // Streams may stay open for ever otherwise.
      streams_.Drain();
      server_->Shutdown(std::chrono::system_clock::now() + limit);
      // Handlers may still hold calls that were cut off, and begin operations on the queue.
      calls_.count.WaitForNone();
    }
    threads_.reset();
    server_.reset();
  }

 private:
  OpenStreams streams_;
  Health health_;
  GrpcCall::Server calls_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::optional<QueueThreads> threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcOptions& options,
                                                              Predictor& predictor,
                                                              KServe& kserve) {
  auto server = std::make_unique<Server>(predictor, kserve, options);
  const absl::Status status = server->Listen(options);
  if (!status.ok()) return status;
  return server;
}

}  // namespace tenon::serve
