#include "tools/serve/http_server.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/serve/gzip.h"
#include "tools/serve/json.h"

namespace tenon::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr size_t kLeastGzipBytes = 1024;  // shorter answers are not worth packing

class Connection;

// What connections share. Outlives them.
struct Shared {
  HttpOptions options;
  HttpHandler handler;
  std::atomic<bool> ending{false};
  std::atomic<int> connections{0};
  std::atomic<int> requests{0};  // received, not yet answered
  std::mutex mutex;
  std::set<Connection*> open;
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<Shared> shared)
      : stream_(std::move(socket)), shared_(std::move(shared)) {
    ++shared_->connections;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->open.insert(this);
  }
  ~Connection() {
    --shared_->connections;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->open.erase(this);
  }

  void Start() {
    error_code ignored;
    stream_.socket().set_option(tcp::no_delay(true), ignored);
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->ReadHeader(); });
  }

  // Closes the connection if it waits for a request.
  void CloseIfIdle() {
    asio::post(stream_.get_executor(), [weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->idle_) self->Close();
    });
  }

 private:
  void ReadHeader() {
    if (shared_->ending) return Close();
    request_ = {};
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(shared_->options.max_body_bytes);
    idle_ = true;
    // Time for the first byte. After it, the whole header has the time of a request.
    stream_.expires_after(shared_->options.idle_timeout);
    if (buffer_.size() > 0) return ReadRest();
    stream_.async_read_some(buffer_.prepare(16 << 10),
                            [self = shared_from_this()](error_code error, size_t size) {
                              if (error) return self->Close();
                              self->buffer_.commit(size);
                              self->ReadRest();
                            });
  }

  void ReadRest() {
    idle_ = false;
    stream_.expires_after(shared_->options.read_timeout);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, size_t) {
                              if (error) return self->Refuse(error);
                              self->OnHeader();
                            });
  }

  void OnHeader() {
    const auto& header = parser_->get();
    keep_alive_ = header.keep_alive();
    const auto expect = header[http::field::expect];
    if (!beast::iequals(expect, "100-continue")) return ReadBody();
    static constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      [self = shared_from_this()](error_code error, size_t) {
                        if (error) return self->Close();
                        self->ReadBody();
                      });
  }

  void ReadBody() {
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, size_t) {
                       if (error) return self->Refuse(error);
                       self->OnRequest();
                     });
  }

  void OnRequest() {
    stream_.expires_never();
    http::request<http::string_body> message = parser_->release();
    request_.method = std::string(message.method_string());
    const absl::string_view target(message.target().data(), message.target().size());
    request_.path = std::string(target.substr(0, target.find('?')));
    for (const auto& field : message) {
      request_.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    request_.body = std::move(message.body());
    gzip_ = absl::StrContains(request_.Header("accept-encoding"), "gzip");
    head_ = message.method() == http::verb::head;
    ++shared_->requests;
    const absl::string_view encoding = request_.Header("content-encoding");
    if (encoding == "gzip") {
      auto unpacked = GunzipText(request_.body, shared_->options.max_body_bytes);
      if (!unpacked.ok()) {
        return Write({400, "application/json", {}, ErrorJson(unpacked.status().message())});
      }
      request_.body = *std::move(unpacked);
    } else if (!encoding.empty() && encoding != "identity") {
      return Write({415,
                    "application/json",
                    {},
                    ErrorJson(absl::StrCat("Content-Encoding ", encoding, " is not supported"))});
    }
    const Respond respond = [self = shared_from_this()](HttpResponse response) {
      // On the connection's own strand: a worker gives the answer.
      auto box = std::make_shared<HttpResponse>(std::move(response));
      asio::dispatch(self->stream_.get_executor(), [self, box] { self->Write(std::move(*box)); });
    };
    try {
      shared_->handler(request_, respond);
    } catch (const std::bad_alloc&) {
      respond({503, "application/json", {}, ErrorJson("out of memory")});
    }
  }

  void Write(HttpResponse response) {
    if (gzip_ && response.body.size() >= kLeastGzipBytes) {
      response.body = GzipText(response.body);
      response.headers.emplace_back("Content-Encoding", "gzip");
    }
    const bool keep = keep_alive_ && !shared_->ending;
    response_.emplace();
    response_->version(11);
    response_->result(static_cast<unsigned>(response.status));
    response_->set(http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.headers) response_->set(name, value);
    response_->keep_alive(keep);
    const size_t size = response.body.size();
    if (!head_) response_->body() = std::move(response.body);
    response_->content_length(size);
    stream_.expires_after(shared_->options.read_timeout);
    const auto done = [self = shared_from_this(), keep](error_code error, size_t) {
      --self->shared_->requests;
      if (error || !keep) return self->Close();
      self->response_.reset();
      self->ReadHeader();
    };
    if (head_) {
      head_serializer_.emplace(*response_);
      head_serializer_->split(true);
      http::async_write_header(stream_, *head_serializer_, done);
    } else {
      http::async_write(stream_, *response_, done);
    }
  }

  // Answers what is not HTTP or too large, and closes.
  void Refuse(const error_code& error) {
    int status = 400;
    if (error == http::error::body_limit) status = 413;
    if (error == http::error::header_limit) status = 431;
    if (error == beast::error::timeout) status = 408;
    const bool spoken = error.category() == make_error_code(http::error::body_limit).category();
    if ((!spoken && status != 408) || error == http::error::end_of_stream ||
        error == http::error::partial_message) {
      return Close();
    }
    keep_alive_ = false;
    gzip_ = head_ = false;
    ++shared_->requests;
    Write({status, "application/json", {}, ErrorJson(error.message())});
  }

  void Close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.socket().close(ignored);
  }

  beast::tcp_stream stream_;
  const std::shared_ptr<Shared> shared_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> head_serializer_;
  HttpRequest request_;
  bool idle_ = false;
  bool keep_alive_ = true;
  bool gzip_ = false;
  bool head_ = false;
};

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

  void Shutdown(std::chrono::milliseconds limit) override {
    shared_->ending = true;
    asio::post(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
    });
    {
      const std::lock_guard<std::mutex> lock(shared_->mutex);
      for (Connection* const connection : shared_->open) connection->CloseIfIdle();
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
        std::make_shared<Connection>(std::move(s), shared_)->Start();
      } else if (error) {
        // Out of file descriptors, as a rule: others end meanwhile.
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      Accept();
    });
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
