#include "tools/serve/grpc_call.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <chrono>
#include <new>

#include "tools/serve/long_work.h"

namespace tenon::serve {
namespace {

grpc::Status Serialize(const google::protobuf::Message& message, grpc::ByteBuffer* bytes) {
  constexpr size_t kMost = 0x7fffffff;  // of a protocol buffer
  const size_t size = message.ByteSizeLong();
  if (size > kMost) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the answer has 2 GiB or more"};
  }
  grpc::ProtoBufferWriter writer(bytes, grpc::kProtoBufferWriterMaxBufferLength,
                                 static_cast<int>(size));
  if (message.SerializeToZeroCopyStream(&writer)) return grpc::Status::OK;
  return {grpc::StatusCode::INTERNAL, "the answer cannot be serialized"};
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  // Messages travel in a header, whose size clients limit.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message().substr(0, 1024)));
}

grpc::Status ReadMessage(grpc::ByteBuffer* bytes, google::protobuf::Message* message) {
  constexpr size_t kLong = 64 << 10;
  if (bytes->Length() > kLong) AboutToTakeLong();
  grpc::ProtoBufferReader reader(bytes);
  if (reader.status().ok() && message->ParseFromZeroCopyStream(&reader)) return grpc::Status::OK;
  return {grpc::StatusCode::INTERNAL, "the request is not a message of this method"};
}

bool ReadRequest(GrpcCall& call, grpc::ByteBuffer* bytes, google::protobuf::Message* request) {
  // gRPC's code for another number of requests than the method has.
  const grpc::Status status = bytes != nullptr
                                  ? ReadMessage(bytes, request)
                                  : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no request");
  if (!status.ok()) call.Finish(status);
  return status.ok();
}

std::set<std::string> ServicesOf(const GrpcMethods& methods) {
  std::set<std::string> services;
  for (const auto& [path, ignored] : methods) {
    services.insert(path.substr(1, path.rfind('/') - 1));  // "a.b.C" of "/a.b.C/Method"
  }
  return services;
}

void CallCount::Begin() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++calls_;
}

void CallCount::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--calls_ == 0) none_.notify_all();
}

void CallCount::WaitForNone() {
  std::unique_lock<std::mutex> lock(mutex_);
  none_.wait(lock, [this] { return calls_ == 0; });
}

void GrpcCall::Listen(Server& server) {
  const std::shared_ptr<GrpcCall> call(new GrpcCall(server));
  // Without it, the context does not learn that the client has cancelled.
  call->context_.AsyncNotifyWhenDone(call->end_event_.For(call));
  server.service.RequestCall(&call->context_, &call->stream_, server.queue, server.queue,
                             call->requested_event_.For(call));
}

GrpcCall::~GrpcCall() { server_.count.End(); }

void GrpcCall::Requested(bool ok) {
  if (!ok) {  // the server shuts down
    end_event_.Forget();
    return;
  }
  Listen(server_);
  const auto method = server_.methods.find(context_.method());
  if (method == server_.methods.end()) {
    return Finish({grpc::StatusCode::UNIMPLEMENTED, "unknown method " + context_.method()});
  }
  method->second(shared_from_this());
}

absl::string_view GrpcCall::Metadata(const char* name) const {
  const auto& metadata = context_.client_metadata();
  const auto found = metadata.find(name);
  if (found == metadata.end()) return "";
  return {found->second.data(), found->second.size()};
}

void GrpcCall::AddInitialMetadata(const std::string& name, const std::string& value) {
  context_.AddInitialMetadata(name, value);
}

Caller GrpcCall::caller() {
  Caller caller;
  const auto deadline = context_.deadline();
  if (deadline != std::chrono::system_clock::time_point::max()) {
    const auto left = deadline - std::chrono::system_clock::now();
    // Far deadlines overflow when they are converted.
    if (left < std::chrono::hours(24 * 365)) caller.deadline = Clock::now() + left;
  }
  caller.cancelled = [call = shared_from_this()] { return call->cancelled_.load(); };
  return caller;
}

void GrpcCall::OnEnd(std::function<void()> ended) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!ended_) {
      on_end_ = std::move(ended);
      return;
    }
  }
  ended();
}

void GrpcCall::Read(std::function<void(grpc::ByteBuffer*)> read) {
  read_ = std::move(read);
  stream_.Read(&message_, read_event_.For(shared_from_this()));
}

void GrpcCall::HasRead(bool ok) {
  // It may start the next read.
  const auto read = std::move(read_);
  grpc::ByteBuffer message;
  message.Swap(&message_);
  try {
    read(ok ? &message : nullptr);
  } catch (const std::bad_alloc&) {
    Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "out of memory"});
  }
}

void GrpcCall::Write(const google::protobuf::Message& message, std::function<void(bool)> written) {
  grpc::ByteBuffer bytes;
  Serialize(message, &bytes);
  written_ = std::move(written);
  stream_.Write(bytes, write_event_.For(shared_from_this()));
}

void GrpcCall::HasWritten(bool ok) {
  const auto written = std::move(written_);
  written(ok);
}

void GrpcCall::Finish(const grpc::Status& status) {
  if (finished_.exchange(true)) return;
  stream_.Finish(status, finish_event_.For(shared_from_this()));
}

void GrpcCall::FinishWith(const google::protobuf::Message& message) {
  grpc::ByteBuffer bytes;
  const grpc::Status status = Serialize(message, &bytes);
  if (!status.ok()) return Finish(status);
  if (finished_.exchange(true)) return;
  stream_.WriteAndFinish(bytes, grpc::WriteOptions(), grpc::Status::OK,
                         finish_event_.For(shared_from_this()));
}

void GrpcCall::HasFinished(bool) {}

void GrpcCall::HasEnded(bool) {
  cancelled_ = context_.IsCancelled();
  std::function<void()> ended;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    ended = std::move(on_end_);
  }
  if (ended) ended();
}

}  // namespace tenon::serve
