#include "tools/serve/grpc_health.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "health.pb.h"

namespace tenon::serve {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using Status = HealthCheckResponse::ServingStatus;

Status StatusOf(bool serving) {
  return serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

}  // namespace

// One Watch. Until the call ends, something that waits for it holds the watcher.
class Health::Watcher final : public OpenStream, public std::enable_shared_from_this<Watcher> {
 public:
  explicit Watcher(std::shared_ptr<GrpcCall> call) : call_(std::move(call)) {}

  // Tells the status once what was told before has been sent.
  void Tell(Status status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    next_ = status;
    Continue();
  }
  void Drain() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = Draining();
    Continue();
  }
  // The client is gone.
  void End() {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = grpc::Status::CANCELLED;
    Continue();
  }

 private:
  // Under the lock.
  void Continue() {
    if (writing_ || finished_) return;
    if (next_.has_value() && next_ != told_) {
      told_ = next_;
      writing_ = true;
      HealthCheckResponse response;
      response.set_status(*told_);
      call_->Write(response, [self = shared_from_this()](bool ok) { self->HasWritten(ok); });
    } else if (end_.has_value()) {
      finished_ = true;
      call_->Finish(*end_);
    }
  }
  void HasWritten(bool ok) {
    const std::lock_guard<std::mutex> lock(mutex_);
    writing_ = false;
    if (!ok) end_ = grpc::Status::CANCELLED;
    Continue();
  }

  const std::shared_ptr<GrpcCall> call_;
  std::mutex mutex_;  // guards what follows
  std::optional<Status> told_, next_;
  std::optional<grpc::Status> end_;
  bool writing_ = false;
  bool finished_ = false;
};

void Health::AddMethods(GrpcMethods& methods) {
  methods["/grpc.health.v1.Health/Check"] = Unary<HealthCheckRequest, HealthCheckResponse>(
      [this](GrpcCall&, const HealthCheckRequest& request, HealthCheckResponse* response,
             const Done& done) {
        if (!Knows(request.service())) {
          return done(absl::NotFoundError(absl::StrCat("no service ", request.service())));
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        response->set_status(StatusOf(serving_));
        done(absl::OkStatus());
      });
  methods["/grpc.health.v1.Health/Watch"] = [this](const std::shared_ptr<GrpcCall>& call) {
    Watch(call);
  };
  services_ = ServicesOf(methods);
}

bool Health::Knows(const std::string& service) const {
  return service.empty() || services_.count(service) != 0;
}

void Health::Watch(const std::shared_ptr<GrpcCall>& call) {
  call->Read([this, call](grpc::ByteBuffer* bytes) {
    HealthCheckRequest request;
    if (!ReadRequest(*call, bytes, &request)) return;
    const auto watcher = std::make_shared<Watcher>(call);
    if (!streams_.Add(watcher)) return call->Finish(OpenStream::Draining());
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (Knows(request.service())) {
        watchers_.push_back(watcher);
        watcher->Tell(StatusOf(serving_));
      } else {
        watcher->Tell(HealthCheckResponse::SERVICE_UNKNOWN);
      }
    }
    call->OnEnd([watcher] { watcher->End(); });
  });
}

void Health::Set(bool serving) {
  const std::lock_guard<std::mutex> lock(mutex_);
  serving_ = serving;
  std::vector<std::weak_ptr<Watcher>> open;
  for (const auto& each : watchers_) {
    const auto watcher = each.lock();
    if (watcher == nullptr) continue;
    watcher->Tell(StatusOf(serving));
    open.push_back(each);
  }
  watchers_ = std::move(open);
}

}  // namespace tenon::serve
