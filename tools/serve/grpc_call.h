// A call of any method: what its handler reads, writes and asks about it.
#ifndef TENON_TOOLS_SERVE_GRPC_CALL_H_
#define TENON_TOOLS_SERVE_GRPC_CALL_H_

#include <google/protobuf/message.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/serve/grpc_queue.h"
#include "tools/serve/predict.h"

namespace tenon::serve {

grpc::Status ToGrpc(const absl::Status& status);

class GrpcCall;

// Begins to answer a call. It, or what it starts, calls Finish once.
using GrpcHandler = std::function<void(const std::shared_ptr<GrpcCall>& call)>;
// By path: "/grpc.health.v1.Health/Check".
using GrpcMethods = std::map<std::string, GrpcHandler, std::less<>>;

// The services that these are methods of: "grpc.health.v1.Health".
std::set<std::string> ServicesOf(const GrpcMethods& methods);

// How many calls there are, those that are waited for included.
class CallCount {
 public:
  void Begin();
  void End();
  void WaitForNone();

 private:
  std::mutex mutex_;  // guards what follows
  int64_t calls_ = 0;
  std::condition_variable none_;
};

// Lives until gRPC has told everything about it, and nobody holds it any more. Any thread may use
// any function; one read at a time, and one write, then Finish. Nothing is said to the client after
// the first Finish.
class GrpcCall : public std::enable_shared_from_this<GrpcCall> {
 public:
  struct Server {
    grpc::AsyncGenericService service;
    grpc::ServerCompletionQueue* queue = nullptr;
    GrpcMethods methods;
    CallCount count;
  };

  // Waits for a call, answers it by its method, and waits for the next one meanwhile, until the
  // server shuts down.
  static void Listen(Server& server);

  ~GrpcCall();

  // The first header of this name that the client sent; empty if there is none.
  absl::string_view Metadata(const char* name) const;
  // Before the first write.
  void AddInitialMetadata(const std::string& name, const std::string& value);
  // With the call's deadline, and whether the client has cancelled it. It holds the call.
  Caller caller();
  // Called once the call has ended, or at once if it has already; perhaps before Finish, if the
  // client is gone.
  void OnEnd(std::function<void()> ended);

  // Calls `read` with the next message, null if there is none: the client sends no more, or is
  // gone. If it throws std::bad_alloc, the call ends with RESOURCE_EXHAUSTED.
  void Read(std::function<void(grpc::ByteBuffer* message)> read);
  // Calls `written` when the next message may be written; false if the client is gone. The message
  // must have less than 2 GiB.
  void Write(const google::protobuf::Message& message, std::function<void(bool ok)> written);
  void Finish(const grpc::Status& status);
  // The only message of the answer, and an OK status; RESOURCE_EXHAUSTED if it has 2 GiB or more.
  void FinishWith(const google::protobuf::Message& message);

 private:
  // An event of gRPC's that keeps the call alive until it happens.
  class Event final : public QueueEvent {
   public:
    explicit Event(void (GrpcCall::*happened)(bool)) : happened_(happened) {}
    void* For(std::shared_ptr<GrpcCall> call) {
      call_ = std::move(call);
      return static_cast<QueueEvent*>(this);
    }
    void Happened(bool ok) override {
      const std::shared_ptr<GrpcCall> call = std::move(call_);
      (call.get()->*happened_)(ok);
    }
    void Forget() { call_.reset(); }

   private:
    void (GrpcCall::*const happened_)(bool);
    std::shared_ptr<GrpcCall> call_;
  };

  explicit GrpcCall(Server& server) : server_(server) { server_.count.Begin(); }
  void Requested(bool ok);
  void HasRead(bool ok);
  void HasWritten(bool ok);
  void HasFinished(bool ok);
  void HasEnded(bool ok);

  Server& server_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  grpc::ByteBuffer message_;  // that is read
  std::function<void(grpc::ByteBuffer*)> read_;
  std::function<void(bool)> written_;
  Event requested_event_{&GrpcCall::Requested};
  Event read_event_{&GrpcCall::HasRead};
  Event write_event_{&GrpcCall::HasWritten};
  Event finish_event_{&GrpcCall::HasFinished};
  Event end_event_{&GrpcCall::HasEnded};
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> finished_{false};  // by us
  std::mutex mutex_;                   // guards what follows
  bool ended_ = false;
  std::function<void()> on_end_;
};

// An error if `bytes` are no such message.
grpc::Status ReadMessage(grpc::ByteBuffer* bytes, google::protobuf::Message* message);

// Reads the only request of a call. False: it was not sent, or is no such message, and the call has
// ended with an error.
bool ReadRequest(GrpcCall& call, grpc::ByteBuffer* bytes, google::protobuf::Message* request);

// A handler of a method with one request and one answer. `answer(call, request, response, done)`
// calls `done` once with an absl::Status, perhaps later; all four live until then.
template <typename Request, typename Response, typename Answer>
GrpcHandler Unary(Answer answer) {
  struct Exchange {
    Request request;
    Response response;
  };
  return [answer = std::move(answer)](const std::shared_ptr<GrpcCall>& call) {
    call->Read([&answer, call](grpc::ByteBuffer* bytes) {
      const auto exchange = std::make_shared<Exchange>();
      if (!ReadRequest(*call, bytes, &exchange->request)) return;
      answer(*call, exchange->request, &exchange->response,
             [call, exchange](const absl::Status& answered) {
               if (answered.ok()) {
                 call->FinishWith(exchange->response);
               } else {
                 call->Finish(ToGrpc(answered));
               }
             });
    });
  };
}

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_GRPC_CALL_H_
