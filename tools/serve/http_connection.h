// One HTTP connection of http_server.h, plain or encrypted.
#ifndef TENON_TOOLS_SERVE_HTTP_CONNECTION_H_
#define TENON_TOOLS_SERVE_HTTP_CONNECTION_H_

#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <type_traits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/serve/gzip.h"
#include "tools/serve/http_server.h"
#include "tools/serve/json.h"

namespace tenon::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr size_t kLeastGzipBytes = 1024;  // shorter answers are not worth packing

// A connection, to those who do not care whether it is encrypted.
class AnyConnection {
 public:
  virtual ~AnyConnection() = default;
  // Closes it if it waits for a request, and none has arrived.
  virtual void CloseIfIdle() = 0;
};

// What connections share. Outlives them.
struct Shared {
  HttpOptions options;
  HttpHandler handler;
  std::atomic<bool> ending{false};
  std::atomic<int> connections{0};
  std::atomic<uint64_t> requests{0};  // that were read
  std::atomic<uint64_t> answers{0};   // that were sent
  std::mutex mutex;
  std::set<AnyConnection*> open;
};

// `Stream`: beast::tcp_stream, or an SSL stream over it.
template <typename Stream>
class Connection final : public AnyConnection,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  // `more`: what else the stream is made from.
  template <typename... More>
  Connection(tcp::socket socket, std::shared_ptr<Shared> shared, More&... more)
      : stream_(std::move(socket), more...), shared_(std::move(shared)) {
    ++shared_->connections;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->open.insert(this);
  }
  ~Connection() override {
    --shared_->connections;
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->open.erase(this);
  }

  void Start() {
    error_code ignored;
    Tcp().socket().set_option(tcp::no_delay(true), ignored);
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] { self->ShakeHands(); });
  }

  void CloseIfIdle() override {
    asio::post(stream_.get_executor(), [weak = this->weak_from_this()] {
      const auto self = weak.lock();
      if (!self || !self->idle_) return;
      // A request that lies in the socket already is answered. So is one that has been read while
      // its handler still waits for its turn: what is cancelled here ends the connection only if it
      // fails.
      error_code error;
      if (self->Tcp().socket().available(error) == 0 || error) self->Tcp().cancel();
    });
  }

 private:
  static constexpr bool kEncrypted = !std::is_same_v<Stream, beast::tcp_stream>;

  beast::tcp_stream& Tcp() { return beast::get_lowest_layer(stream_); }

  void ShakeHands() {
    if constexpr (kEncrypted) {
      Tcp().expires_after(shared_->options.read_timeout);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code error) {
                                if (error) return self->Close();
                                self->ReadHeader();
                              });
    } else {
      ReadHeader();
    }
  }

  void ReadHeader() {
    if (shared_->ending) return Close();
    request_ = {};
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(shared_->options.max_body_bytes);
    idle_ = true;
    // Time for the first byte. After it, the whole header has the time of a request.
    Tcp().expires_after(shared_->options.idle_timeout);
    if (buffer_.size() > 0) return ReadRest();
    stream_.async_read_some(buffer_.prepare(16 << 10),
                            [self = this->shared_from_this()](error_code error, size_t size) {
                              if (error) return self->Close();
                              self->buffer_.commit(size);
                              self->ReadRest();
                            });
  }

  void ReadRest() {
    idle_ = false;
    Tcp().expires_after(shared_->options.read_timeout);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](error_code error, size_t) {
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
                      [self = this->shared_from_this()](error_code error, size_t) {
                        if (error) return self->Close();
                        self->ReadBody();
                      });
  }

  void ReadBody() {
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](error_code error, size_t) {
                       if (error) return self->Refuse(error);
                       self->OnRequest();
                     });
  }

  void OnRequest() {
    Tcp().expires_never();
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
    const Respond respond = [self = this->shared_from_this()](HttpResponse response) {
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
    Tcp().expires_after(shared_->options.read_timeout);
    const auto done = [self = this->shared_from_this(), keep](error_code error, size_t) {
      if (error) return self->Close();
      ++self->shared_->answers;
      if (!keep) return self->CloseGently();
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

  // Lets the client read the answer first: closing a socket with unread bytes in it would cut off
  // what the client has not read yet.
  void CloseGently() {
    error_code ignored;
    Tcp().expires_after(std::chrono::seconds(2));
    if constexpr (kEncrypted) {
      stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->Close(); });
    } else {
      Tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
      Discard();
    }
  }

  // Reads until the client closes, or the time is over.
  void Discard() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(16 << 10),
                            [self = this->shared_from_this()](error_code error, size_t) {
                              if (error) return self->Close();
                              self->Discard();
                            });
  }

  void Close() {
    error_code ignored;
    Tcp().socket().shutdown(tcp::socket::shutdown_both, ignored);
    Tcp().socket().close(ignored);
  }

  Stream stream_;
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

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_HTTP_CONNECTION_H_
