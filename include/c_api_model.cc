// The C interface over proto/import/model.h: what models take and give.
#include <cstring>

#include "env/status.h"
#include "include/c_api_types.h"
#include "tenon/tenon.h"

namespace {

using tenon::Guard;
using tenon::InvalidArgument;
using tenon::SignatureInfo;
using tenon::SignatureTensor;

const SignatureInfo* SignatureAt(const tenon_model* model, int index) {
  const auto& signatures = model->info.signatures;
  if (index < 0 || static_cast<size_t>(index) >= signatures.size()) return nullptr;
  return &signatures[static_cast<size_t>(index)];
}

int Count(const tenon_model* model, int signature,
          std::vector<SignatureTensor> SignatureInfo::*tensors) {
  const SignatureInfo* info = SignatureAt(model, signature);
  return info == nullptr ? 0 : static_cast<int>((info->*tensors).size());
}

tenon_status* Describe(const tenon_model* model, int signature, int index,
                       std::vector<SignatureTensor> SignatureInfo::*tensors, const char* what,
                       tenon_tensor_spec* spec) {
  return Guard([&]() -> absl::Status {
    if (model == nullptr || spec == nullptr) return InvalidArgument("null argument");
    const SignatureInfo* info = SignatureAt(model, signature);
    if (info == nullptr) return InvalidArgument("the model has no signature ", signature);
    if (index < 0 || static_cast<size_t>(index) >= (info->*tensors).size()) {
      return InvalidArgument("signature '", info->name, "' has no ", what, " ", index);
    }
    const SignatureTensor& tensor = (info->*tensors)[static_cast<size_t>(index)];
    const tenon_tensor_spec told = {
        sizeof(tenon_tensor_spec),   tensor.name.c_str(),
        tensor.tensor.c_str(),       static_cast<tenon_dtype>(tensor.dtype),
        tenon::RankOf(tensor.shape), tenon::DimsOf(tensor.shape),
        tensor.optional ? 1 : 0};
    return tenon::WriteStruct(told, spec);
  });
}

}  // namespace

tenon_status* tenon_model_open(const char* path, tenon_model** model) {
  return Guard([&]() -> absl::Status {
    if (path == nullptr || model == nullptr) return InvalidArgument("null argument");
    auto opened = std::make_unique<tenon_model>();
    opened->path = path;
    TENON_ASSIGN_OR_RETURN(opened->info, tenon::InspectModel(opened->path, {}));
    *model = opened.release();
    return absl::OkStatus();
  });
}
tenon_status* tenon_model_parse(const void* data, size_t size, tenon_model** model) {
  return Guard([&]() -> absl::Status {
    if ((data == nullptr && size > 0) || model == nullptr) return InvalidArgument("null argument");
    auto parsed = std::make_unique<tenon_model>();
    parsed->bytes = absl::string_view(static_cast<const char*>(data), size);
    TENON_ASSIGN_OR_RETURN(parsed->info, tenon::InspectParsed(parsed->bytes, {}));
    *model = parsed.release();
    return absl::OkStatus();
  });
}
void tenon_model_free(tenon_model* model) { delete model; }

const char* tenon_model_format(const tenon_model* model) { return model->info.format.c_str(); }
int tenon_model_num_signatures(const tenon_model* model) {
  return static_cast<int>(model->info.signatures.size());
}
const char* tenon_model_signature_name(const tenon_model* model, int signature) {
  const SignatureInfo* info = SignatureAt(model, signature);
  return info == nullptr ? nullptr : info->name.c_str();
}
const char* tenon_model_signature_method(const tenon_model* model, int signature) {
  const SignatureInfo* info = SignatureAt(model, signature);
  return info == nullptr ? nullptr : info->method.c_str();
}
int tenon_model_default_signature(const tenon_model* model) {
  return model->info.default_signature;
}
int tenon_model_num_inputs(const tenon_model* model, int signature) {
  return Count(model, signature, &SignatureInfo::inputs);
}
int tenon_model_num_outputs(const tenon_model* model, int signature) {
  return Count(model, signature, &SignatureInfo::outputs);
}
tenon_status* tenon_model_input(const tenon_model* model, int signature, int index,
                                tenon_tensor_spec* spec) {
  return Describe(model, signature, index, &SignatureInfo::inputs, "input", spec);
}
tenon_status* tenon_model_output(const tenon_model* model, int signature, int index,
                                 tenon_tensor_spec* spec) {
  return Describe(model, signature, index, &SignatureInfo::outputs, "output", spec);
}
