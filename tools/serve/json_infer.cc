#include "tools/serve/json_infer.h"

#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "include/tenon/tensor.hpp"
#include "tools/serve/json.h"

namespace tenon::serve {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using rapidjson::Value;

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

template <typename T>
void Append(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
bool AppendSigned(const Value& value, std::string* bytes) {
  if (!value.IsInt64() || value.GetInt64() < std::numeric_limits<T>::min() ||
      value.GetInt64() > std::numeric_limits<T>::max()) {
    return false;
  }
  Append(static_cast<T>(value.GetInt64()), bytes);
  return true;
}

template <typename T>
bool AppendUnsigned(const Value& value, std::string* bytes) {
  if (!value.IsUint64() || value.GetUint64() > std::numeric_limits<T>::max()) return false;
  Append(static_cast<T>(value.GetUint64()), bytes);
  return true;
}

// False if the value does not fit the datatype.
bool AppendElement(const Value& value, absl::string_view datatype, std::string* bytes) {
  if (datatype == "FP32" || datatype == "FP64" || datatype == "FP16" || datatype == "BF16") {
    if (!value.IsNumber()) return false;
    const double number = value.GetDouble();
    if (datatype == "FP32") Append(static_cast<float>(number), bytes);
    if (datatype == "FP64") Append(number, bytes);
    if (datatype == "FP16") Append(half(static_cast<float>(number)).bits, bytes);
    if (datatype == "BF16") Append(bfloat16(static_cast<float>(number)).bits, bytes);
    return true;
  }
  if (datatype == "INT64") return AppendSigned<int64_t>(value, bytes);
  if (datatype == "INT32") return AppendSigned<int32_t>(value, bytes);
  if (datatype == "INT16") return AppendSigned<int16_t>(value, bytes);
  if (datatype == "INT8") return AppendSigned<int8_t>(value, bytes);
  if (datatype == "UINT64") return AppendUnsigned<uint64_t>(value, bytes);
  if (datatype == "UINT32") return AppendUnsigned<uint32_t>(value, bytes);
  if (datatype == "UINT16") return AppendUnsigned<uint16_t>(value, bytes);
  if (datatype == "UINT8") return AppendUnsigned<uint8_t>(value, bytes);
  if (datatype == "BOOL") {
    const bool number = value.IsInt() && (value.GetInt() == 0 || value.GetInt() == 1);
    if (!value.IsBool() && !number) return false;
    Append(static_cast<char>(value.IsBool() ? value.GetBool() : value.GetInt() != 0), bytes);
    return true;
  }
  if (datatype == "BYTES") {
    if (!value.IsString()) return false;
    Append(static_cast<uint32_t>(value.GetStringLength()), bytes);
    bytes->append(value.GetString(), value.GetStringLength());
    return true;
  }
  return false;
}

// "data" may be flat, or nested like the shape.
absl::Status AppendData(const Value& value, const std::string& name, absl::string_view datatype,
                        int depth, int64_t* count, std::string* bytes) {
  if (!value.IsArray()) {
    if (!AppendElement(value, datatype, bytes)) {
      return Invalid(absl::StrCat("element ", *count, " of input '", name, "' is no ", datatype,
                                  ": ", Shortened(value)));
    }
    ++*count;
    return absl::OkStatus();
  }
  if (depth > 254) return Invalid(absl::StrCat("the data of input '", name, "' is too deep"));
  for (const Value& element : value.GetArray()) {
    const absl::Status status = AppendData(element, name, datatype, depth + 1, count, bytes);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Null if there is none.
const Value* Member(const Value& object, const char* key) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

std::string TextOf(const Value* value) {
  return value != nullptr && value->IsString()
             ? std::string(value->GetString(), value->GetStringLength())
             : "";
}

absl::Status ReadInput(const Value& value, absl::string_view* binary, ModelInferRequest* request) {
  auto* const input = request->add_inputs();
  const std::string name = TextOf(Member(value, "name"));
  if (name.empty()) return Invalid("an input has no \"name\"");
  input->set_name(name);
  input->set_datatype(TextOf(Member(value, "datatype")));
  if (input->datatype().empty()) {
    return Invalid(absl::StrCat("input '", name, "' has no \"datatype\""));
  }
  const Value* const shape = Member(value, "shape");
  if (shape == nullptr || !shape->IsArray()) {
    return Invalid(absl::StrCat("input '", name, "' has no \"shape\""));
  }
  int64_t elements = 1;
  for (const Value& dim : shape->GetArray()) {
    if (!dim.IsInt64() || dim.GetInt64() < 0) {
      return Invalid(absl::StrCat("the shape of input '", name, "' is not valid"));
    }
    if (__builtin_mul_overflow(elements, dim.GetInt64(), &elements)) {
      return Invalid(absl::StrCat("the shape of input '", name, "' is too large"));
    }
    input->add_shape(dim.GetInt64());
  }
  std::string* const bytes = request->add_raw_input_contents();
  const Value* const parameters = Member(value, "parameters");
  const Value* const size =
      parameters == nullptr ? nullptr : Member(*parameters, "binary_data_size");
  if (size != nullptr) {
    if (!size->IsUint64() || size->GetUint64() > binary->size()) {
      return Invalid(absl::StrCat("the \"binary_data_size\" of input '", name,
                                  "' exceeds what follows the JSON text"));
    }
    *bytes = std::string(binary->substr(0, size->GetUint64()));
    binary->remove_prefix(size->GetUint64());
    return absl::OkStatus();
  }
  const Value* const data = Member(value, "data");
  if (data == nullptr || !data->IsArray()) {
    return Invalid(absl::StrCat("input '", name, "' has no \"data\""));
  }
  int64_t count = 0;
  const absl::Status status = AppendData(*data, name, input->datatype(), 0, &count, bytes);
  if (status.ok() && count != elements) {
    return Invalid(absl::StrCat("input '", name, "' has ", count, " elements, but its shape needs ",
                                elements));
  }
  return status;
}

absl::Status ReadOutput(const Value& value, ModelInferRequest* request, BinaryOutputs* binary) {
  const std::string name = TextOf(Member(value, "name"));
  if (name.empty()) return Invalid("an output has no \"name\"");
  request->add_outputs()->set_name(name);
  const Value* const parameters = Member(value, "parameters");
  if (parameters == nullptr) return absl::OkStatus();
  if (Member(*parameters, "classification") != nullptr) {
    return absl::UnimplementedError("the classification extension is not supported");
  }
  const Value* const flag = Member(*parameters, "binary_data");
  if (flag != nullptr && flag->IsBool()) {
    (flag->GetBool() ? binary->yes : binary->no).insert(name);
  }
  return absl::OkStatus();
}

// Writes `bytes` as elements.
class RawReader {
 public:
  RawReader(absl::string_view bytes, JsonWriter* json) : bytes_(bytes), json_(json) {}

  absl::Status Write(absl::string_view datatype) {
    while (!bytes_.empty()) {
      if (datatype == "FP32") {
        json_->Float(Next<float>());
      } else if (datatype == "FP64") {
        json_->Double(Next<double>());
      } else if (datatype == "FP16") {
        json_->Float(static_cast<float>(Next<half>()));
      } else if (datatype == "BF16") {
        json_->Float(static_cast<float>(Next<bfloat16>()));
      } else if (datatype == "INT64") {
        json_->Int(Next<int64_t>());
      } else if (datatype == "INT32") {
        json_->Int(Next<int32_t>());
      } else if (datatype == "INT16") {
        json_->Int(Next<int16_t>());
      } else if (datatype == "INT8") {
        json_->Int(Next<int8_t>());
      } else if (datatype == "UINT64") {
        json_->Uint(Next<uint64_t>());
      } else if (datatype == "UINT32") {
        json_->Uint(Next<uint32_t>());
      } else if (datatype == "UINT16") {
        json_->Uint(Next<uint16_t>());
      } else if (datatype == "UINT8") {
        json_->Uint(Next<uint8_t>());
      } else if (datatype == "BOOL") {
        json_->Bool(Next<bool>());
      } else {  // BYTES
        const uint32_t size = Next<uint32_t>();
        json_->Text(bytes_.substr(0, size));
        bytes_.remove_prefix(std::min<size_t>(size, bytes_.size()));
      }
    }
    return absl::OkStatus();
  }

 private:
  template <typename T>
  T Next() {
    T value = T();
    std::memcpy(&value, bytes_.data(), std::min(sizeof(T), bytes_.size()));
    bytes_.remove_prefix(std::min(sizeof(T), bytes_.size()));
    return value;
  }

  absl::string_view bytes_;
  JsonWriter* const json_;
};

}  // namespace

absl::Status InferRequestFromJson(absl::string_view body, int64_t json_bytes,
                                  ModelInferRequest* request, BinaryOutputs* binary) {
  if (json_bytes > static_cast<int64_t>(body.size())) {
    return Invalid("Inference-Header-Content-Length exceeds the body");
  }
  absl::string_view rest = json_bytes < 0 ? "" : body.substr(static_cast<size_t>(json_bytes));
  if (json_bytes >= 0) body = body.substr(0, static_cast<size_t>(json_bytes));
  rapidjson::Document document;
  absl::Status status = ParseJsonObject(body, &document);
  if (!status.ok()) return status;
  request->set_id(TextOf(Member(document, "id")));
  if (const Value* const parameters = Member(document, "parameters")) {
    const Value* const all = Member(*parameters, "binary_data_output");
    binary->all = all != nullptr && all->IsBool() && all->GetBool();
    const std::string signature = TextOf(Member(*parameters, "signature_name"));
    if (!signature.empty()) {
      (*request->mutable_parameters())["signature_name"].set_string_param(signature);
    }
  }
  const Value* const inputs = Member(document, "inputs");
  if (inputs == nullptr || !inputs->IsArray()) return Invalid("the request has no \"inputs\"");
  for (const Value& input : inputs->GetArray()) {
    status = ReadInput(input, &rest, request);
    if (!status.ok()) return status;
  }
  if (!rest.empty()) {
    return Invalid(absl::StrCat(rest.size(), " bytes after the JSON text belong to no input"));
  }
  const Value* const outputs = Member(document, "outputs");
  if (outputs == nullptr) return absl::OkStatus();
  if (!outputs->IsArray()) return Invalid("\"outputs\" is not a list");
  for (const Value& output : outputs->GetArray()) {
    status = ReadOutput(output, request, binary);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status InferResponseToJson(const ModelInferResponse& response, const BinaryOutputs& binary,
                                 std::string* body, int64_t* json_bytes) {
  JsonWriter json;
  std::string rest;
  json.StartObject();
  json.Key("model_name");
  json.Text(response.model_name());
  json.Key("model_version");
  json.Text(response.model_version());
  if (!response.id().empty()) {
    json.Key("id");
    json.Text(response.id());
  }
  json.Key("outputs");
  json.StartArray();
  bool any_binary = false;
  for (int i = 0; i < response.outputs_size(); ++i) {
    const auto& output = response.outputs(i);
    const std::string& raw = response.raw_output_contents(i);
    json.StartObject();
    json.Key("name");
    json.Text(output.name());
    json.Key("datatype");
    json.Text(output.datatype());
    json.Key("shape");
    json.StartArray();
    for (const int64_t dim : output.shape()) json.Int(dim);
    json.EndArray();
    const bool as_binary =
        binary.yes.count(output.name()) > 0 || (binary.all && binary.no.count(output.name()) == 0);
    if (as_binary) {
      any_binary = true;
      json.Key("parameters");
      json.StartObject();
      json.Key("binary_data_size");
      json.Uint(raw.size());
      json.EndObject();
      rest += raw;
    } else {
      json.Key("data");
      json.StartArray();
      const absl::Status status = RawReader(raw, &json).Write(output.datatype());
      if (!status.ok()) return status;
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  *body = json.Take();
  *json_bytes = any_binary ? static_cast<int64_t>(body->size()) : -1;
  *body += rest;
  return absl::OkStatus();
}

}  // namespace tenon::serve
