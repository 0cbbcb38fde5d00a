// The C interface over runtime/session/session.h.
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "env/flags.h"
#include "env/status.h"
#include "include/c_api_types.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tenon/tenon.h"

namespace {

using tenon::DType;
using tenon::Guard;
using tenon::InvalidArgument;
using tenon::Shape;
using tenon::ShapeFromDims;
using tenon::Tensor;

template <typename Infos>
const char* NameAt(const Infos& infos, int index) {
  if (index < 0 || static_cast<size_t>(index) >= infos.size()) return nullptr;
  return infos[static_cast<size_t>(index)].name.c_str();
}

const tenon::TensorInfo* InputAt(const tenon_session* session, int index) {
  const auto& inputs = session->session->inputs();
  if (index < 0 || static_cast<size_t>(index) >= inputs.size()) return nullptr;
  return &inputs[static_cast<size_t>(index)];
}

absl::Status CreateSession(const char* path, const tenon_session_options* given,
                           tenon_session** out) {
  if (path == nullptr || out == nullptr) return InvalidArgument("null argument");
  tenon_session_options wanted = TENON_SESSION_OPTIONS_INIT;
  if (given != nullptr) {
    // Callers built for the first versions have no cache_dir, or no plugins.
    if (given->size != sizeof(wanted) && given->size != offsetof(tenon_session_options, plugins) &&
        given->size != offsetof(tenon_session_options, cache_dir)) {
      return InvalidArgument("options of an unknown size");
    }
    std::memcpy(&wanted, given, given->size);
  }
  tenon::SessionOptions options;
  TENON_ASSIGN_OR_RETURN(options.flags, tenon::Flags::FromEnvironment());
  if (wanted.onednn_opts >= 0) options.flags->onednn_opts = wanted.onednn_opts != 0;
  if (wanted.threads < 0) return InvalidArgument("threads must not be negative");
  options.threads = wanted.threads;
  tenon::LoadOptions load;
  if (wanted.signature != nullptr) load.signature = wanted.signature;
  if (wanted.fetches != nullptr) {
    load.fetches = absl::StrSplit(wanted.fetches, ',', absl::SkipWhitespace());
  }
  if (wanted.cache_dir != nullptr) options.cache_dir = wanted.cache_dir;
  if (wanted.plugins != nullptr) {
    options.plugins = absl::StrSplit(wanted.plugins, ':', absl::SkipEmpty());
  }
  if (wanted.device != nullptr) options.device = wanted.device;
  auto session = std::make_unique<tenon_session>();
  TENON_ASSIGN_OR_RETURN(session->session, tenon::Session::Load(path, load, options));
  *out = session.release();
  return absl::OkStatus();
}

absl::Status RunSession(tenon_session* session, const tenon_tensor* const* inputs, int num_inputs,
                        tenon_tensor** outputs, int num_outputs) {
  if (session == nullptr || num_inputs < 0 || (num_inputs > 0 && inputs == nullptr) ||
      (num_outputs > 0 && outputs == nullptr)) {
    return InvalidArgument("null argument");
  }
  if (num_outputs != static_cast<int>(session->session->outputs().size())) {
    return InvalidArgument("the model has ", session->session->outputs().size(),
                           " outputs, but the caller asked for ", num_outputs);
  }
  std::vector<Tensor> in;
  for (int i = 0; i < num_inputs; ++i) {
    in.push_back(inputs[i] == nullptr ? Tensor() : inputs[i]->tensor);
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> out, session->session->Run(in));
  std::vector<std::unique_ptr<tenon_tensor>> made;
  for (Tensor& t : out) made.push_back(std::make_unique<tenon_tensor>(tenon_tensor{std::move(t)}));
  for (size_t i = 0; i < made.size(); ++i) outputs[i] = made[i].release();
  return absl::OkStatus();
}

absl::Status CheckString(const tenon_tensor* tensor, int64_t index) {
  if (tensor == nullptr || tensor->tensor.dtype() != DType::kString) {
    return InvalidArgument("not a string tensor");
  }
  if (index < 0 || index >= tensor->tensor.num_elements()) {
    return InvalidArgument("index ", index, " is not in a tensor of shape ",
                           tensor->tensor.shape().ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> tenon::ShapeFromDims(const int64_t* dims, int rank) {
  if (rank < 0 || (rank > 0 && dims == nullptr)) return InvalidArgument("bad dims");
  return Shape(absl::Span<const int64_t>(dims, static_cast<size_t>(rank)));
}

const char* tenon_version(void) { return TENON_VERSION; }

tenon_code tenon_status_code(const tenon_status* status) {
  if (status == nullptr) return TENON_OK;
  switch (status->status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return TENON_INVALID_ARGUMENT;
    case absl::StatusCode::kNotFound:
      return TENON_NOT_FOUND;
    case absl::StatusCode::kResourceExhausted:
      return TENON_RESOURCE_EXHAUSTED;
    case absl::StatusCode::kFailedPrecondition:
      return TENON_FAILED_PRECONDITION;
    case absl::StatusCode::kUnimplemented:
      return TENON_UNIMPLEMENTED;
    default:
      return TENON_INTERNAL;
  }
}
const char* tenon_status_message(const tenon_status* status) {
  return status == nullptr ? "" : status->message.c_str();
}
void tenon_status_free(tenon_status* status) { delete status; }

tenon_status* tenon_tensor_create(tenon_dtype dtype, const int64_t* dims, int rank,
                                  tenon_tensor** tensor) {
  return Guard([&]() -> absl::Status {
    if (tensor == nullptr) return InvalidArgument("null argument");
    TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeFromDims(dims, rank));
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(static_cast<DType>(dtype), shape));
    *tensor = new tenon_tensor{std::move(t)};
    return absl::OkStatus();
  });
}

tenon_status* tenon_tensor_view(tenon_dtype dtype, const int64_t* dims, int rank, void* data,
                                size_t bytes, void (*release)(void* argument), void* argument,
                                tenon_tensor** tensor) {
  return Guard([&]() -> absl::Status {
    if (tensor == nullptr || (data == nullptr && bytes > 0))
      return InvalidArgument("null argument");
    const DType d = static_cast<DType>(dtype);
    if (d == DType::kString || tenon::SizeOf(d) == 0) {
      return InvalidArgument("memory of dtype ", tenon::Name(d), " cannot be viewed");
    }
    TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeFromDims(dims, rank));
    TENON_ASSIGN_OR_RETURN(const int64_t elements, shape.CheckedElements());
    size_t need = 0;
    if (__builtin_mul_overflow(static_cast<size_t>(elements), tenon::SizeOf(d), &need) ||
        need != bytes) {
      return InvalidArgument("shape ", shape.ToString(), " does not have ", bytes, " bytes");
    }
    auto view = std::make_unique<tenon_tensor>();
    std::shared_ptr<const void> owner;
    if (release != nullptr) {
      owner = std::shared_ptr<const void>(data,
                                          [release, argument](const void*) { release(argument); });
    }
    view->tensor = Tensor::FromExternal(d, shape, data, std::move(owner));
    *tensor = view.release();
    return absl::OkStatus();
  });
}

void tenon_tensor_free(tenon_tensor* tensor) { delete tensor; }
tenon_dtype tenon_tensor_dtype(const tenon_tensor* tensor) {
  return static_cast<tenon_dtype>(tensor->tensor.dtype());
}
int tenon_tensor_rank(const tenon_tensor* tensor) { return tensor->tensor.shape().rank(); }
const int64_t* tenon_tensor_dims(const tenon_tensor* tensor) {
  return tensor->tensor.shape().dims().data();
}
int64_t tenon_tensor_num_elements(const tenon_tensor* tensor) {
  return tensor->tensor.num_elements();
}
void* tenon_tensor_data(tenon_tensor* tensor) {
  return tensor->tensor.dtype() == DType::kString ? nullptr : tensor->tensor.raw();
}
size_t tenon_tensor_bytes(const tenon_tensor* tensor) {
  return tensor->tensor.dtype() == DType::kString ? 0 : tensor->tensor.bytes();
}
tenon_status* tenon_tensor_set_string(tenon_tensor* tensor, int64_t index, const char* data,
                                      size_t size) {
  return Guard([&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckString(tensor, index));
    if (data == nullptr && size > 0) return InvalidArgument("null argument");
    tensor->tensor.data<std::string>()[index].assign(data == nullptr ? "" : data, size);
    return absl::OkStatus();
  });
}
tenon_status* tenon_tensor_get_string(const tenon_tensor* tensor, int64_t index, const char** data,
                                      size_t* size) {
  return Guard([&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckString(tensor, index));
    if (data == nullptr || size == nullptr) return InvalidArgument("null argument");
    const std::string& s = tensor->tensor.data<std::string>()[index];
    *data = s.data();
    *size = s.size();
    return absl::OkStatus();
  });
}

tenon_status* tenon_session_create(const char* path, const tenon_session_options* options,
                                   tenon_session** session) {
  return Guard([&] { return CreateSession(path, options, session); });
}
void tenon_session_free(tenon_session* session) { delete session; }
int tenon_session_num_inputs(const tenon_session* session) {
  return static_cast<int>(session->session->inputs().size());
}
int tenon_session_num_outputs(const tenon_session* session) {
  return static_cast<int>(session->session->outputs().size());
}
const char* tenon_session_input_name(const tenon_session* session, int index) {
  return NameAt(session->session->inputs(), index);
}
const char* tenon_session_output_name(const tenon_session* session, int index) {
  return NameAt(session->session->outputs(), index);
}
tenon_dtype tenon_session_input_dtype(const tenon_session* session, int index) {
  const tenon::TensorInfo* info = InputAt(session, index);
  return static_cast<tenon_dtype>(info == nullptr ? DType::kInvalid : info->dtype);
}
int tenon_session_input_shape(const tenon_session* session, int index, const int64_t** dims) {
  const tenon::TensorInfo* info = InputAt(session, index);
  if (info == nullptr || !info->shape.has_rank()) return -1;
  if (dims != nullptr) *dims = info->shape.dims().data();
  return info->shape.rank();
}
tenon_status* tenon_session_run(tenon_session* session, const tenon_tensor* const* inputs,
                                int num_inputs, tenon_tensor** outputs, int num_outputs) {
  return Guard([&] { return RunSession(session, inputs, num_inputs, outputs, num_outputs); });
}
int tenon_session_num_variables(const tenon_session* session) {
  return static_cast<int>(session->session->VariableNames().size());
}
const char* tenon_session_variable_name(const tenon_session* session, int index) {
  const std::vector<std::string>& names = session->session->VariableNames();
  if (index < 0 || static_cast<size_t>(index) >= names.size()) return nullptr;
  return names[static_cast<size_t>(index)].c_str();
}
tenon_status* tenon_session_read_variable(const tenon_session* session, const char* name,
                                          tenon_tensor** value) {
  return Guard([&]() -> absl::Status {
    if (session == nullptr || name == nullptr || value == nullptr) {
      return InvalidArgument("null argument");
    }
    auto copy = std::make_unique<tenon_tensor>();
    TENON_ASSIGN_OR_RETURN(copy->tensor, session->session->ReadVariable(name));
    *value = copy.release();
    return absl::OkStatus();
  });
}
tenon_status* tenon_session_assign_variable(tenon_session* session, const char* name,
                                            const tenon_tensor* value) {
  return Guard([&]() -> absl::Status {
    if (session == nullptr || name == nullptr || value == nullptr) {
      return InvalidArgument("null argument");
    }
    return session->session->AssignVariable(name, value->tensor);
  });
}
