// tenon_serve_bench: times of requests beside those of runs in this process, for bench/serve.py.
//
//   tenon_serve_bench SAVED_MODEL NAME GRPC_ADDRESS REST_PORT SECONDS CLIENTS [FREE]
//
// Inputs have one row, and FREE (1) in other dimensions that the model leaves free.
// One client: the median and the 99th percentile of a run in this process with one thread, of a
// gRPC request, and of a REST request (without if REST_PORT is 0), in µs, measured in turns. More
// clients: gRPC requests per second with that many under way, over eight connections. Prints JSON.
#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "include/tenon/tenon.hpp"
#include "serving.grpc.pb.h"
#include "tools/serve/json.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

using Clock = std::chrono::steady_clock;
using tensorflow::serving::PredictionService;
using tensorflow::serving::PredictRequest;
using tensorflow::serving::PredictResponse;

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "tenon_serve_bench: %s\n", why.c_str());
  std::exit(1);
}

// One row of random numbers for every input, which must be of floats.
std::vector<std::pair<std::string, Tensor>> RandomInputs(const Session& session, int free) {
  std::vector<std::pair<std::string, Tensor>> inputs;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> between(-1, 1);
  for (const TensorSpec& spec : session.inputs()) {
    if (spec.dtype != TENON_FLOAT || !spec.dims.has_value()) Fail("an input is not of floats");
    std::vector<int64_t> dims = *spec.dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] < 0) dims[d] = d == 0 ? 1 : free;
    }
    Tensor tensor = Tensor::Create<float>(dims);
    for (float& x : tensor.elements<float>()) x = between(random);
    inputs.emplace_back(spec.name, tensor);
  }
  return inputs;
}

PredictRequest RequestOf(const std::string& name,
                         const std::vector<std::pair<std::string, Tensor>>& inputs) {
  PredictRequest request;
  request.mutable_model_spec()->set_name(name);
  for (const auto& [key, tensor] : inputs) {
    ToProto(tensor, true, &(*request.mutable_inputs())[key]);
  }
  return request;
}

// A keep-alive connection.
class Http {
 public:
  explicit Http(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      Fail("cannot connect to the REST port");
    }
    const int one = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  }
  ~Http() { close(socket_); }

  void Post(const std::string& path, const std::string& body) {
    const std::string text = absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: localhost\r\n",
                                          "Content-Length: ", body.size(), "\r\n\r\n", body);
    if (send(socket_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      Fail("cannot send");
    }
    std::string answer;
    size_t wanted = std::string::npos;
    char chunk[65536];
    while (answer.size() < wanted) {
      const ssize_t n = recv(socket_, chunk, sizeof(chunk), 0);
      if (n <= 0) Fail("the connection ended");
      answer.append(chunk, static_cast<size_t>(n));
      const size_t end = answer.find("\r\n\r\n");
      if (end == std::string::npos || wanted != std::string::npos) continue;
      static const std::string kLength = "Content-Length: ";
      const size_t at = answer.find(kLength);
      if (at == std::string::npos) Fail("an answer has no length");
      wanted = end + 4 + static_cast<size_t>(std::atol(answer.c_str() + at + kLength.size()));
    }
    if (!absl::StartsWith(answer, "HTTP/1.1 200")) Fail(answer);
  }

 private:
  int socket_;
};

struct Series {
  const char* name;
  std::function<void()> call;
  std::vector<double> us = {};
};

void Compare(Session& session, const std::vector<std::pair<std::string, Tensor>>& inputs,
             const std::string& name, const std::string& grpc_address, int rest_port,
             double seconds) {
  const auto stub = PredictionService::NewStub(
      grpc::CreateChannel(grpc_address, grpc::InsecureChannelCredentials()));
  const PredictRequest request = RequestOf(name, inputs);
  std::optional<Http> http;
  if (rest_port != 0) http.emplace(rest_port);
  JsonWriter json;
  json.StartObject();
  json.Key("inputs");
  json.StartObject();
  for (const auto& [key, tensor] : inputs) {
    json.Key(key);
    const std::vector<int64_t> dims = tensor.dims();
    const auto values = tensor.elements<float>();
    size_t next = 0;
    const std::function<void(size_t)> write = [&](size_t dim) {
      if (dim == dims.size()) return json.Float(values[next++]);
      json.StartArray();
      for (int64_t i = 0; i < dims[dim]; ++i) write(dim + 1);
      json.EndArray();
    };
    write(0);
  }
  json.EndObject();
  json.EndObject();
  const std::string body = json.Take(), path = absl::StrCat("/v1/models/", name, ":predict");
  std::vector<Series> all = {{"in_process", [&] { session.RunNamed(inputs); }},
                             {"grpc", [&] {
                                grpc::ClientContext context;
                                PredictResponse response;
                                const grpc::Status status =
                                    stub->Predict(&context, request, &response);
                                if (!status.ok()) Fail(status.error_message());
                              }}};
  if (http.has_value()) all.push_back({"rest", [&] { http->Post(path, body); }});
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  for (bool warm = false; Clock::now() < until; warm = true) {
    for (Series& series : all) {
      for (int i = 0; i < 100 && Clock::now() < until; ++i) {
        const auto start = Clock::now();
        series.call();
        const std::chrono::duration<double, std::micro> took = Clock::now() - start;
        if (warm) series.us.push_back(took.count());
      }
    }
  }
  JsonWriter out;
  out.StartObject();
  for (Series& series : all) {
    if (series.us.empty()) Fail("too few seconds");
    std::sort(series.us.begin(), series.us.end());
    out.Key(series.name);
    out.StartObject();
    out.Key("p50_us");
    out.Double(series.us[series.us.size() / 2]);
    out.Key("p99_us");
    out.Double(series.us[series.us.size() * 99 / 100]);
    out.Key("requests");
    out.Uint(series.us.size());
    out.EndObject();
  }
  out.EndObject();
  std::puts(out.Take().c_str());
}

// A request that is under way.
struct Call {
  PredictionService::Stub* stub;
  grpc::ClientContext context;
  PredictResponse response;
  grpc::Status status;
  Clock::time_point start = Clock::now();
  std::unique_ptr<grpc::ClientAsyncResponseReader<PredictResponse>> reader;
};

void Throughput(const std::vector<std::pair<std::string, Tensor>>& inputs, const std::string& name,
                const std::string& grpc_address, double seconds, int clients) {
  constexpr int kConnections = 8;
  const PredictRequest request = RequestOf(name, inputs);
  std::vector<std::unique_ptr<PredictionService::Stub>> stubs;
  for (int i = 0; i < kConnections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("tenon.client", i);  // channels of the same arguments share a connection
    stubs.push_back(PredictionService::NewStub(
        grpc::CreateCustomChannel(grpc_address, grpc::InsecureChannelCredentials(), arguments)));
  }
  // One thread for all: it leaves the CPUs to the server.
  grpc::CompletionQueue queue;
  int under_way = 0;
  const auto begin = [&](PredictionService::Stub* stub) {
    auto* const call = new Call{stub, {}, {}, {}, Clock::now(), nullptr};
    call->reader = stub->AsyncPredict(&call->context, request, &queue);
    call->reader->Finish(&call->response, &call->status, call);
    ++under_way;
  };
  const auto start = Clock::now();
  const auto warm = start + std::chrono::duration<double>(seconds / 5);
  const auto until = warm + std::chrono::duration<double>(seconds);
  for (int i = 0; i < clients; ++i) begin(stubs[static_cast<size_t>(i % kConnections)].get());
  std::vector<double> us;
  while (under_way > 0) {
    void* tag;
    bool ok;
    if (!queue.Next(&tag, &ok)) Fail("the queue ended");
    const std::unique_ptr<Call> call(static_cast<Call*>(tag));
    --under_way;
    if (!call->status.ok()) Fail(call->status.error_message());
    const auto now = Clock::now();
    if (now >= warm && now < until) {
      us.push_back(std::chrono::duration<double, std::micro>(now - call->start).count());
    }
    if (now < until) begin(call->stub);
  }
  if (us.empty()) Fail("too few seconds");
  std::sort(us.begin(), us.end());
  JsonWriter out;
  out.StartObject();
  out.Key("clients");
  out.Int(clients);
  out.Key("requests_per_s");
  out.Double(static_cast<double>(us.size()) / seconds);
  out.Key("p50_us");
  out.Double(us[us.size() / 2]);
  out.Key("p99_us");
  out.Double(us[us.size() * 99 / 100]);
  out.EndObject();
  std::puts(out.Take().c_str());
}

}  // namespace
}  // namespace tenon::serve

int main(int argc, char** argv) {
  using namespace tenon::serve;  // NOLINT: this program is all of it
  int rest_port = 0, clients = 0, free = 1;
  double seconds = 0;
  if (argc < 7 || argc > 8 || (argc == 8 && !absl::SimpleAtoi(argv[7], &free)) ||
      !absl::SimpleAtoi(argv[4], &rest_port) || !absl::SimpleAtod(argv[5], &seconds) ||
      !absl::SimpleAtoi(argv[6], &clients)) {
    Fail("usage: tenon_serve_bench SAVED_MODEL NAME GRPC_ADDRESS REST_PORT SECONDS CLIENTS [FREE]");
  }
  try {
    tenon::SessionOptions options;
    options.threads = 1;
    tenon::Session session(argv[1], options);
    const auto inputs = RandomInputs(session, free);
    if (clients == 1) {
      Compare(session, inputs, argv[2], argv[3], rest_port, seconds);
    } else {
      Throughput(inputs, argv[2], argv[3], seconds, clients);
    }
  } catch (const tenon::Error& error) {
    Fail(error.what());
  }
  return 0;
}
