// The C interface over runtime/session/session.h: sessions, their inputs, outputs and variables.
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "env/flags.h"
#include "env/status.h"
#include "include/c_api_types.h"
#include "tenon/tenon.h"

namespace {

using tenon::DType;
using tenon::Guard;
using tenon::InvalidArgument;
using tenon::Shape;
using tenon::TensorInfo;

template <typename Infos>
const TensorInfo* At(const Infos& infos, int index) {
  if (index < 0 || static_cast<size_t>(index) >= infos.size()) return nullptr;
  return &infos[static_cast<size_t>(index)];
}
const TensorInfo* InputAt(const tenon_session* session, int index) {
  return At(session->session->inputs(), index);
}
const TensorInfo* OutputAt(const tenon_session* session, int index) {
  return At(session->session->outputs(), index);
}
const char* NameOf(const TensorInfo* info) {
  return info == nullptr ? nullptr : info->name.c_str();
}
tenon_dtype DTypeOf(const TensorInfo* info) {
  return static_cast<tenon_dtype>(info == nullptr ? DType::kInvalid : info->dtype);
}
int GiveShape(const Shape* shape, const int64_t** dims) {
  if (shape == nullptr || !shape->has_rank()) return -1;
  if (dims != nullptr) *dims = tenon::DimsOf(*shape);
  return shape->rank();
}

tenon_status* Describe(const TensorInfo* info, const Shape* shape, const char* what, int index,
                       tenon_tensor_spec* spec) {
  return Guard([&]() -> absl::Status {
    if (info == nullptr) return InvalidArgument("the session has no ", what, " ", index);
    const tenon_tensor_spec told = {sizeof(tenon_tensor_spec),
                                    info->name.c_str(),
                                    nullptr,
                                    DTypeOf(info),
                                    tenon::RankOf(*shape),
                                    tenon::DimsOf(*shape),
                                    info->optional ? 1 : 0};
    return tenon::WriteStruct(told, spec);
  });
}

absl::Status CreateSession(const tenon_model& model, const tenon_session_options* given,
                           tenon_session** out) {
  TENON_ASSIGN_OR_RETURN(tenon::SessionRequest request, tenon::ReadSessionOptions(given));
  auto session = std::make_unique<tenon_session>();
  if (!model.path.empty()) {
    TENON_ASSIGN_OR_RETURN(session->session,
                           tenon::Session::Load(model.path, request.load, request.session));
  } else {
    TENON_ASSIGN_OR_RETURN(session->session,
                           tenon::Session::Parse(model.bytes, request.load, request.session));
  }
  *out = session.release();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<tenon::SessionRequest> tenon::ReadSessionOptions(
    const tenon_session_options* given) {
  const tenon_session_options defaults = TENON_SESSION_OPTIONS_INIT;
  TENON_ASSIGN_OR_RETURN(const tenon_session_options wanted, ReadStruct(given, defaults));
  SessionRequest request;
  SessionOptions& options = request.session;
  TENON_ASSIGN_OR_RETURN(options.flags, Flags::FromEnvironment());
  if (wanted.onednn_opts >= 0) options.flags->onednn_opts = wanted.onednn_opts != 0;
  if (wanted.threads < 0) return InvalidArgument("threads must not be negative");
  options.threads = wanted.threads;
  const auto names = [](const char* list) -> std::vector<std::string> {
    return absl::StrSplit(list == nullptr ? "" : list, ',', absl::SkipWhitespace());
  };
  options.memory_limit = wanted.memory_limit;
  if (wanted.signature != nullptr) request.load.signature = wanted.signature;
  request.load.fetches = names(wanted.fetches);
  request.load.more_feeds = names(wanted.feeds);
  request.load.tags = names(wanted.tags);
  if (wanted.cache_dir != nullptr) options.cache_dir = wanted.cache_dir;
  if (wanted.plugins != nullptr) {
    options.plugins = absl::StrSplit(wanted.plugins, ':', absl::SkipEmpty());
  }
  if (wanted.device != nullptr) options.device = wanted.device;
  if (wanted.precision != nullptr) {
    const absl::string_view precision = wanted.precision;
    if (precision != "fp32" && precision != "bf16") {
      return InvalidArgument("precision '", precision, "' is neither fp32 nor bf16");
    }
    options.precision = precision == "bf16" ? Precision::kBfloat16 : Precision::kFloat;
  }
  return request;
}

tenon_status* tenon_session_create(const char* path, const tenon_session_options* options,
                                   tenon_session** session) {
  return Guard([&]() -> absl::Status {
    if (path == nullptr || session == nullptr) return InvalidArgument("null argument");
    tenon_model model;
    model.path = path;
    if (model.path.empty()) return tenon::NotFound("the path of the model is empty");
    return CreateSession(model, options, session);
  });
}
tenon_status* tenon_session_create_from_model(const tenon_model* model,
                                              const tenon_session_options* options,
                                              tenon_session** session) {
  return Guard([&]() -> absl::Status {
    if (model == nullptr || session == nullptr) return InvalidArgument("null argument");
    return CreateSession(*model, options, session);
  });
}
void tenon_session_free(tenon_session* session) { delete session; }

int tenon_session_num_inputs(const tenon_session* session) {
  return static_cast<int>(session->session->inputs().size());
}
int tenon_session_num_outputs(const tenon_session* session) {
  return static_cast<int>(session->session->outputs().size());
}
const char* tenon_session_input_name(const tenon_session* session, int index) {
  return NameOf(InputAt(session, index));
}
const char* tenon_session_output_name(const tenon_session* session, int index) {
  return NameOf(OutputAt(session, index));
}
tenon_dtype tenon_session_input_dtype(const tenon_session* session, int index) {
  return DTypeOf(InputAt(session, index));
}
tenon_dtype tenon_session_output_dtype(const tenon_session* session, int index) {
  return DTypeOf(OutputAt(session, index));
}
int tenon_session_input_shape(const tenon_session* session, int index, const int64_t** dims) {
  const TensorInfo* info = InputAt(session, index);
  return GiveShape(info == nullptr ? nullptr : &info->shape, dims);
}
int tenon_session_output_shape(const tenon_session* session, int index, const int64_t** dims) {
  if (OutputAt(session, index) == nullptr) return -1;
  return GiveShape(&session->session->OutputShapes()[static_cast<size_t>(index)], dims);
}
tenon_status* tenon_session_input(const tenon_session* session, int index,
                                  tenon_tensor_spec* spec) {
  const TensorInfo* info = InputAt(session, index);
  return Describe(info, info == nullptr ? nullptr : &info->shape, "input", index, spec);
}
tenon_status* tenon_session_output(const tenon_session* session, int index,
                                   tenon_tensor_spec* spec) {
  const TensorInfo* info = OutputAt(session, index);
  return Describe(
      info,
      info == nullptr ? nullptr : &session->session->OutputShapes()[static_cast<size_t>(index)],
      "output", index, spec);
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
