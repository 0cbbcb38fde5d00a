#include "tools/serve/grpc_stream.h"

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "tools/serve/grpc_calls.h"

namespace tenon::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelStreamInferResponse;

constexpr size_t kMostUnderWay = 64;  // requests of a stream; more are not read meanwhile
constexpr char kApi[] = "ModelStreamInfer";

}  // namespace

class InferStream final
    : public grpc::ServerBidiReactor<ModelInferRequest, ModelStreamInferResponse> {
 public:
  InferStream(InferStreams& streams, KServe& kserve, grpc::CallbackServerContext* context)
      : streams_(streams),
        kserve_(kserve),
        context_(context),
        trace_(Trace::Parse(Metadata(context, kTraceHeader))) {
    if (!trace_.header.empty()) context->AddInitialMetadata(kTraceHeader, trace_.header);
    {
      const std::lock_guard<std::mutex> lock(streams_.mutex_);
      streams_.open_.insert(this);
      draining_ = streams_.draining_;
    }
    StartRead(&read_);
  }
  ~InferStream() override {
    const std::lock_guard<std::mutex> lock(streams_.mutex_);
    streams_.open_.erase(this);
  }

  // Reads no more.
  void Drain() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      draining_ = true;
    }
    FinishIfDone();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {  // the client sends no more
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        reading_ = false;
      }
      return FinishIfDone();
    }
    auto exchange = std::make_shared<Exchange>();
    exchange->request.Swap(&read_);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (finished_) return;
      under_way_.push_back(exchange);
    }
    kserve_.Infer(exchange->request, exchange->response.mutable_infer_response(),
                  CallerOf(context_),
                  [this, exchange](absl::Status status) { Answered(*exchange, status); });
    const std::lock_guard<std::mutex> lock(mutex_);
    if (draining_) return;
    if (under_way_.size() < kMostUnderWay) {
      StartRead(&read_);
    } else {
      paused_ = true;
    }
  }

  void OnWriteDone(bool) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      under_way_.pop_front();
      writing_ = false;
      WriteNext();
      if (paused_ && !draining_) {
        paused_ = false;
        StartRead(&read_);
      }
    }
    FinishIfDone();
  }

  void OnDone() override { delete this; }

 private:
  struct Exchange {
    ModelInferRequest request;
    ModelStreamInferResponse response;
    bool answered = false;
    Clock::time_point start = Clock::now();
  };

  void Answered(Exchange& exchange, const absl::Status& status) {
    CountCall(exchange.request.model_name(), kApi, trace_, status, exchange.start);
    if (!status.ok()) {
      exchange.response.set_error_message(std::string(status.message()));
      auto* const response = exchange.response.mutable_infer_response();
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
    StartWrite(&under_way_.front()->response);
  }

  void FinishIfDone() {
    bool draining;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (finished_ || (reading_ && !draining_) || !under_way_.empty()) return;
      finished_ = true;
      draining = draining_;
    }
    Finish(draining ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down")
                    : grpc::Status::OK);
  }

  InferStreams& streams_;
  KServe& kserve_;
  grpc::CallbackServerContext* const context_;
  const Trace trace_;
  ModelInferRequest read_;
  std::mutex mutex_;  // guards what follows
  std::deque<std::shared_ptr<Exchange>> under_way_;
  bool reading_ = true;  // the client may send more
  bool paused_ = false;  // no read is under way, although it may
  bool writing_ = false;
  bool draining_ = false;
  bool finished_ = false;
};

namespace {

// Ends at once.
class Refusal final : public grpc::ServerBidiReactor<ModelInferRequest, ModelStreamInferResponse> {
 public:
  explicit Refusal(const absl::Status& status) { Finish(ToGrpc(status)); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerBidiReactor<ModelInferRequest, ModelStreamInferResponse>* InferStreams::Start(
    KServe& kserve, grpc::CallbackServerContext* context, const absl::Status& allowed) {
  if (!allowed.ok()) return new Refusal(allowed);
  return new InferStream(*this, kserve, context);
}

void InferStreams::Drain() {
  const std::lock_guard<std::mutex> lock(mutex_);
  draining_ = true;
  for (InferStream* const stream : open_) stream->Drain();
}

}  // namespace tenon::serve
