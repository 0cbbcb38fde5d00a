#include "tools/serve/http_server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <optional>
#include <thread>

#include "serving.pb.h"
#include "tools/serve/http_connection.h"
#include "tools/serve/text_file.h"

namespace tenon::serve {
namespace {

class BeastServer final : public HttpServer {
 public:
  BeastServer(const HttpOptions& options, HttpHandler handler)
      : acceptor_(asio::make_strand(context_)), shared_(std::make_shared<Shared>()) {
    shared_->options = options;
    shared_->handler = std::move(handler);
  }
  ~BeastServer() override { Stop(); }

  absl::Status Listen() {
    const HttpOptions& options = shared_->options;
    if (!options.ssl_config_file.empty()) {
      const absl::Status encrypted = UseSsl(options.ssl_config_file);
      if (!encrypted.ok()) return encrypted;
    }
    error_code error;
    const auto address = asio::ip::make_address(options.address, error);
    const tcp::endpoint endpoint(address, static_cast<uint16_t>(options.port));
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(absl::StrCat("cannot listen to HTTP on ", options.address, ":",
                                                 options.port, ": ", error.message()));
    }
    port_ = acceptor_.local_endpoint().port();
    asio::post(acceptor_.get_executor(), [this] { Accept(); });
    for (int i = 0; i < std::max(1, options.threads); ++i) {
      threads_.emplace_back([this] { context_.run(); });
    }
    return absl::OkStatus();
  }

  int port() const override { return port_; }
  HttpCounts counts() const override { return {shared_->requests, shared_->answers}; }

  void Shutdown(std::chrono::milliseconds limit) override {
    shared_->ending = true;
    asio::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
    });
    {
      const std::lock_guard<std::mutex> lock(shared_->mutex);
      for (AnyConnection* const connection : shared_->open) connection->CloseIfIdle();
    }
    const auto until = std::chrono::steady_clock::now() + limit;
    while (shared_->connections > 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    Stop();
  }

 private:
  void Accept() {
    acceptor_.async_accept(asio::make_strand(context_), [this](error_code error, tcp::socket s) {
      if (!acceptor_.is_open()) return;
      if (!error && shared_->connections < shared_->options.max_connections) {
        if (ssl_.has_value()) {
          using Encrypted = Connection<asio::ssl::stream<beast::tcp_stream>>;
          std::make_shared<Encrypted>(std::move(s), shared_, *ssl_)->Start();
        } else {
          std::make_shared<Connection<beast::tcp_stream>>(std::move(s), shared_)->Start();
        }
      } else if (error) {
        // Out of file descriptors, as a rule: others end meanwhile.
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      Accept();
    });
  }

  absl::Status UseSsl(const std::string& file) {
    tensorflow::serving::SSLConfig config;
    const absl::Status read = ReadTextProto(file, &config);
    if (!read.ok()) return read;
    asio::ssl::context& ssl = ssl_.emplace(asio::ssl::context::tls_server);
    error_code error;
    const auto buffer = [](const std::string& text) { return asio::buffer(text); };
    SSL_CTX_set_min_proto_version(ssl.native_handle(), TLS1_2_VERSION);
    ssl.use_certificate_chain(buffer(config.server_cert()), error);
    if (error) return Refused(file, "server_cert", error);
    ssl.use_private_key(buffer(config.server_key()), asio::ssl::context::pem, error);
    if (error) return Refused(file, "server_key", error);
    if (config.client_verify()) {
      ssl.add_certificate_authority(buffer(config.custom_ca()), error);
      if (error) return Refused(file, "custom_ca", error);
      ssl.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
    return absl::OkStatus();
  }

  static absl::Status Refused(const std::string& file, const char* field, const error_code& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": ", field, " cannot be used: ", error.message()));
  }

  void Stop() {
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  asio::io_context context_;
  // While all requests are with the models, nothing else keeps the threads.
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  tcp::acceptor acceptor_;
  std::optional<asio::ssl::context> ssl_;
  std::shared_ptr<Shared> shared_;
  int port_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::string_view HttpRequest::Header(absl::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, name)) return value;
  }
  return "";
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options,
                                                              HttpHandler handler) {
  auto server = std::make_unique<BeastServer>(options, std::move(handler));
  const absl::Status status = server->Listen();
  if (!status.ok()) return status;
  return server;
}

}  // namespace tenon::serve
