#include "tools/serve/grpc_reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "reflection.pb.h"

namespace tenon::serve {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using namespace grpc::reflection::v1;  // NOLINT: all names below are messages

using Names = std::set<std::string>;

// What one client asks; it gets each file once.
class Reflection {
 public:
  explicit Reflection(const Names& services) : services_(services) {}

  ServerReflectionResponse Answer(const ServerReflectionRequest& request) {
    ServerReflectionResponse response;
    response.set_valid_host(request.host());
    *response.mutable_original_request() = request;
    switch (request.message_request_case()) {
      case ServerReflectionRequest::kFileByFilename:
        AddFile(pool_.FindFileByName(request.file_by_filename()), request.file_by_filename(),
                response);
        break;
      case ServerReflectionRequest::kFileContainingSymbol:
        AddFile(pool_.FindFileContainingSymbol(request.file_containing_symbol()),
                request.file_containing_symbol(), response);
        break;
      case ServerReflectionRequest::kFileContainingExtension: {
        const ExtensionRequest& asked = request.file_containing_extension();
        const Descriptor* const type = pool_.FindMessageTypeByName(asked.containing_type());
        const FieldDescriptor* const extension =
            type == nullptr ? nullptr : pool_.FindExtensionByNumber(type, asked.extension_number());
        AddFile(extension == nullptr ? nullptr : extension->file(), asked.containing_type(),
                response);
        break;
      }
      case ServerReflectionRequest::kAllExtensionNumbersOfType:
        AddExtensions(request.all_extension_numbers_of_type(), response);
        break;
      case ServerReflectionRequest::kListServices:
        for (const std::string& name : services_) {
          response.mutable_list_services_response()->add_service()->set_name(name);
        }
        break;
      default:
        SetError(grpc::StatusCode::INVALID_ARGUMENT, "the request asks for nothing", response);
    }
    return response;
  }

 private:
  static void SetError(grpc::StatusCode code, const std::string& message,
                       ServerReflectionResponse& response) {
    response.mutable_error_response()->set_error_code(code);
    response.mutable_error_response()->set_error_message(message);
  }

  // The file and all that it imports. `name`: what was asked for.
  void AddFile(const FileDescriptor* file, const std::string& name,
               ServerReflectionResponse& response) {
    if (file == nullptr) {
      return SetError(grpc::StatusCode::NOT_FOUND, absl::StrCat(name, " is not known"), response);
    }
    FileDescriptorResponse& out = *response.mutable_file_descriptor_response();
    std::vector<const FileDescriptor*> files = {file};
    for (size_t i = 0; i < files.size(); ++i) {
      // What was asked for is sent, even if it was before.
      if (!sent_.insert(files[i]).second && i > 0) continue;
      for (int d = 0; d < files[i]->dependency_count(); ++d) {
        files.push_back(files[i]->dependency(d));
      }
      google::protobuf::FileDescriptorProto proto;
      files[i]->CopyTo(&proto);
      out.add_file_descriptor_proto(proto.SerializeAsString());
    }
  }

  void AddExtensions(const std::string& name, ServerReflectionResponse& response) {
    const Descriptor* const type = pool_.FindMessageTypeByName(name);
    if (type == nullptr) {
      return SetError(grpc::StatusCode::NOT_FOUND, absl::StrCat(name, " is not known"), response);
    }
    std::vector<const FieldDescriptor*> extensions;
    pool_.FindAllExtensions(type, &extensions);
    ExtensionNumberResponse& out = *response.mutable_all_extension_numbers_response();
    out.set_base_type_name(name);
    for (const FieldDescriptor* extension : extensions) {
      out.add_extension_number(extension->number());
    }
  }

  const DescriptorPool& pool_ = *DescriptorPool::generated_pool();
  const Names& services_;
  std::set<const FileDescriptor*> sent_;
};

// One call, which answers each request before it reads the next. What waits for an event of the
// call holds the stream.
class ReflectionStream final : public OpenStream,
                               public std::enable_shared_from_this<ReflectionStream> {
 public:
  ReflectionStream(const Names& services, std::shared_ptr<GrpcCall> call)
      : reflection_(services), call_(std::move(call)) {}

  void Read() {
    call_->Read([self = shared_from_this()](grpc::ByteBuffer* message) { self->HasRead(message); });
  }

  void Drain() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      draining_ = true;
      if (answering_) return;
    }
    call_->Finish(Draining());
  }

 private:
  void HasRead(grpc::ByteBuffer* message) {
    if (message == nullptr) return call_->Finish(grpc::Status::OK);
    ServerReflectionRequest request;
    const grpc::Status status = ReadMessage(message, &request);
    if (!status.ok()) return call_->Finish(status);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (draining_) return;
      answering_ = true;
    }
    call_->Write(reflection_.Answer(request), [self = shared_from_this()](bool) {
      {
        const std::lock_guard<std::mutex> lock(self->mutex_);
        self->answering_ = false;
        if (!self->draining_) return self->Read();
      }
      self->call_->Finish(Draining());
    });
  }

  Reflection reflection_;
  const std::shared_ptr<GrpcCall> call_;
  std::mutex mutex_;  // guards what follows
  bool answering_ = false;
  bool draining_ = false;
};

}  // namespace

void AddReflection(OpenStreams& streams, GrpcMethods& methods) {
  const auto services = std::make_shared<Names>();  // complete below, with reflection itself
  const GrpcHandler handler = [&streams, services](const std::shared_ptr<GrpcCall>& call) {
    const auto stream = std::make_shared<ReflectionStream>(*services, call);
    if (!streams.Add(stream)) return call->Finish(OpenStream::Draining());
    stream->Read();
  };
  for (const char* version : {"v1", "v1alpha"}) {
    methods[absl::StrCat("/grpc.reflection.", version, ".ServerReflection/ServerReflectionInfo")] =
        handler;
  }
  *services = ServicesOf(methods);
}

}  // namespace tenon::serve
