#include "tools/serve/grpc_stream.h"

#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "inference.pb.h"
#include "tools/serve/grpc_calls.h"

namespace tenon::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelStreamInferResponse;

constexpr size_t kMostUnderWay = 64;       // requests of a stream; more are not read meanwhile
constexpr size_t kMostBytes = 0x7fffffff;  // of an answer
constexpr char kApi[] = "ModelStreamInfer";

// What waits for an event of the call holds the stream.
class InferStream final : public OpenStream, public std::enable_shared_from_this<InferStream> {
 public:
  InferStream(KServe& kserve, std::shared_ptr<GrpcCall> call)
      : kserve_(kserve), call_(std::move(call)), trace_(TraceOf(*call_)) {}

  void Start() { Read(); }

  // Reads no more.
  void Drain() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      draining_ = true;
    }
    FinishIfDone();
  }

 private:
  struct Exchange {
    ModelInferRequest request;
    ModelStreamInferResponse response;
    bool answered = false;
    Clock::time_point start = Clock::now();
  };

  void Read() {
    call_->Read([self = shared_from_this()](grpc::ByteBuffer* message) { self->HasRead(message); });
  }

  void HasRead(grpc::ByteBuffer* message) {
    auto exchange = std::make_shared<Exchange>();
    grpc::Status status;
    if (message != nullptr) status = ReadMessage(message, &exchange->request);
    if (message == nullptr || !status.ok()) {  // the client sends no more, or nothing of use
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        reading_ = false;
        end_ = status;
      }
      return FinishIfDone();
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (finished_) return;
      under_way_.push_back(exchange);
    }
    kserve_.Infer(exchange->request, exchange->response.mutable_infer_response(), call_->caller(),
                  [self = shared_from_this(), exchange](const absl::Status& answered) {
                    self->Answered(*exchange, answered);
                  });
    const std::lock_guard<std::mutex> lock(mutex_);
    if (draining_) return;
    if (under_way_.size() < kMostUnderWay) {
      Read();
    } else {
      paused_ = true;
    }
  }

  void HasWritten() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      under_way_.pop_front();
      writing_ = false;
      WriteNext();
      if (paused_ && !draining_) {
        paused_ = false;
        Read();
      }
    }
    FinishIfDone();
  }

  void Answered(Exchange& exchange, absl::Status status) {
    auto* const response = exchange.response.mutable_infer_response();
    if (status.ok() && response->ByteSizeLong() > kMostBytes - 1024) {
      status = absl::ResourceExhaustedError("the answer has 2 GiB or more");
    }
    CountCall(exchange.request.model_name(), kApi, trace_, status, exchange.start);
    if (!status.ok()) {
      exchange.response.set_error_message(std::string(status.message()));
      response->Clear();
      response->set_model_name(exchange.request.model_name());
      response->set_id(exchange.request.id());
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    exchange.answered = true;
    WriteNext();
  }

  // Under the lock.
  void WriteNext() {
    if (writing_ || under_way_.empty() || !under_way_.front()->answered) return;
    writing_ = true;
    call_->Write(under_way_.front()->response,
                 [self = shared_from_this()](bool) { self->HasWritten(); });
  }

  void FinishIfDone() {
    grpc::Status status;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (finished_ || (reading_ && !draining_) || !under_way_.empty()) return;
      finished_ = true;
      status = draining_ ? Draining() : end_;
    }
    call_->Finish(status);
  }

  KServe& kserve_;
  const std::shared_ptr<GrpcCall> call_;
  const Trace trace_;
  std::mutex mutex_;  // guards what follows
  std::deque<std::shared_ptr<Exchange>> under_way_;
  bool reading_ = true;  // the client may send more
  bool paused_ = false;  // no read is under way, although it may
  bool writing_ = false;
  bool draining_ = false;
  bool finished_ = false;
  grpc::Status end_;  // what the stream ends with
};

}  // namespace

void StartInferStream(KServe& kserve, const std::shared_ptr<GrpcCall>& call, OpenStreams& streams) {
  const auto stream = std::make_shared<InferStream>(kserve, call);
  if (!streams.Add(stream)) return call->Finish(OpenStream::Draining());
  stream->Start();
}

}  // namespace tenon::serve
