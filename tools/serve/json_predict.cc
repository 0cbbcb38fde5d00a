// Predict in JSON.
#include <limits>
#include <map>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/serve/json.h"
#include "tools/serve/json_base64.h"
#include "tools/serve/json_tensors.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

using rapidjson::Value;
using tensorflow::TensorProto;
using tensorflow::TensorShapeProto;
using TensorMap = google::protobuf::Map<std::string, TensorProto>;

constexpr int kMostDimensions = 254;

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

std::string_view TypeName(const Value& value) {
  constexpr std::string_view kNames[] = {"Null",  "False",  "True",  "Object",
                                         "Array", "String", "Number"};
  return kNames[value.GetType()];
}

std::string DTypeName(tensorflow::DataType dtype) {
  std::string name = tensorflow::DataType_Name(dtype).substr(3);  // without DT_
  for (char& c : name) c = absl::ascii_tolower(static_cast<unsigned char>(c));
  return name;
}

absl::Status TypeError(const Value& value, tensorflow::DataType dtype) {
  return Invalid(absl::StrCat("JSON Value: ", Shortened(value),
                              " Type: ", std::string(TypeName(value)),
                              " is not of expected type: ", DTypeName(dtype)));
}

template <typename T>
bool Fits(int value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

absl::Status AddValue(const Value& value, tensorflow::DataType dtype, TensorProto* tensor) {
  const auto need = [&](bool fits) { return fits ? absl::OkStatus() : TypeError(value, dtype); };
  absl::Status status;
  switch (dtype) {
    case tensorflow::DT_FLOAT:
      if (status = need(value.IsNumber()); status.ok()) {
        tensor->add_float_val(static_cast<float>(value.GetDouble()));
      }
      return status;
    case tensorflow::DT_DOUBLE:
      if (status = need(value.IsNumber()); status.ok()) tensor->add_double_val(value.GetDouble());
      return status;
    case tensorflow::DT_HALF:
      if (status = need(value.IsNumber()); status.ok()) {
        tensor->add_half_val(half(static_cast<float>(value.GetDouble())).bits);
      }
      return status;
    case tensorflow::DT_BFLOAT16:
      if (status = need(value.IsNumber()); status.ok()) {
        tensor->add_half_val(bfloat16(static_cast<float>(value.GetDouble())).bits);
      }
      return status;
    case tensorflow::DT_INT32:
    case tensorflow::DT_INT16:
    case tensorflow::DT_INT8:
    case tensorflow::DT_UINT8:
    case tensorflow::DT_UINT16:
      if (!value.IsInt()) return TypeError(value, dtype);
      if ((dtype == tensorflow::DT_INT16 && !Fits<int16_t>(value.GetInt())) ||
          (dtype == tensorflow::DT_INT8 && !Fits<int8_t>(value.GetInt())) ||
          (dtype == tensorflow::DT_UINT8 && !Fits<uint8_t>(value.GetInt())) ||
          (dtype == tensorflow::DT_UINT16 && !Fits<uint16_t>(value.GetInt()))) {
        return TypeError(value, dtype);
      }
      tensor->add_int_val(value.GetInt());
      return status;
    case tensorflow::DT_STRING:
      if (status = need(value.IsString()); status.ok()) {
        tensor->add_string_val(value.GetString(), value.GetStringLength());
      }
      return status;
    case tensorflow::DT_INT64:
      if (status = need(value.IsInt64()); status.ok()) tensor->add_int64_val(value.GetInt64());
      return status;
    case tensorflow::DT_BOOL:
      if (status = need(value.IsBool()); status.ok()) tensor->add_bool_val(value.GetBool());
      return status;
    case tensorflow::DT_UINT32:
      if (status = need(value.IsUint()); status.ok()) tensor->add_uint32_val(value.GetUint());
      return status;
    case tensorflow::DT_UINT64:
      if (status = need(value.IsUint64()); status.ok()) tensor->add_uint64_val(value.GetUint64());
      return status;
    default:
      return absl::UnimplementedError(absl::StrCat("Conversion of JSON Value: ", Shortened(value),
                                                   " to type: ", DTypeName(dtype)));
  }
}

// The shape of nested lists, judged by the first element of each.
absl::Status ShapeOf(const Value& value, TensorShapeProto* shape) {
  for (const Value* v = &value; v->IsArray(); v = &(*v)[0]) {
    if (shape->dim_size() == kMostDimensions) {
      return Invalid(absl::StrCat("JSON lists are nested more than ", kMostDimensions, " deep"));
    }
    shape->add_dim()->set_size(v->Size());
    if (v->Size() == 0) break;
  }
  return absl::OkStatus();
}

// Appends the values below `value`, which is at `level` of lists of this shape.
absl::Status AddValues(const Value& value, int level, tensorflow::DataType dtype,
                       const TensorShapeProto& shape, int64_t* count, TensorProto* tensor) {
  const int rank = shape.dim_size();
  if (!value.IsArray()) {
    if (level != rank) {
      return Invalid(absl::StrCat("JSON Value: ", Shortened(value), " found at incorrect level: ",
                                  level + 1, " in the JSON DOM. Expected at level: ", rank));
    }
    absl::Status status;
    if (value.IsObject()) {
      status = dtype == tensorflow::DT_STRING ? DecodeBase64(value, tensor->add_string_val())
                                              : TypeError(value, dtype);
    } else {
      status = AddValue(value, dtype, tensor);
    }
    if (status.ok()) ++*count;
    return status;
  }
  if (level >= rank) {
    return Invalid(
        absl::StrCat("Encountered list at unexpected level: ", level, " expected < ", rank));
  }
  if (value.Size() != shape.dim(level).size()) {
    return Invalid(absl::StrCat("Encountered list at unexpected size: ", value.Size(),
                                " at level: ", level, " expected size: ", shape.dim(level).size()));
  }
  for (const Value& element : value.GetArray()) {
    const absl::Status status = AddValues(element, level + 1, dtype, shape, count, tensor);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string Listed(const TensorShapeProto& shape) {
  std::vector<int64_t> sizes;
  for (const auto& dim : shape.dim()) sizes.push_back(dim.size());
  return absl::StrCat("[", absl::StrJoin(sizes, ","), "]");
}

bool Same(const TensorShapeProto& a, const TensorShapeProto& b) { return Listed(a) == Listed(b); }

const TensorSpec* SpecOf(const Signature& signature, absl::string_view name) {
  for (const TensorSpec& spec : signature.inputs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

bool IsNamed(const Value& element) { return element.IsObject() && !IsBase64(element); }

// Collects the rows of every input.
class RowReader {
 public:
  RowReader(const Signature& signature, TensorMap* tensors)
      : signature_(signature), tensors_(tensors) {}

  absl::Status Add(const Value& element, const std::string& name) {
    const TensorSpec* const spec = SpecOf(signature_, name);
    if (spec == nullptr) {
      return Invalid(absl::StrCat("JSON object: does not have named input: ", name));
    }
    const auto dtype = static_cast<tensorflow::DataType>(spec->dtype);
    TensorShapeProto shape;
    absl::Status status = ShapeOf(element, &shape);
    if (!status.ok()) return status;
    TensorProto& tensor = (*tensors_)[name];
    tensor.set_dtype(dtype);
    int64_t count = 0;
    status = AddValues(element, 0, dtype, shape, &count, &tensor);
    if (!status.ok()) return status;
    const auto [it, first] = rows_.emplace(name, Row{count, shape});
    if (first) return absl::OkStatus();
    if (it->second.count != count) {
      return Invalid(
          absl::StrCat("Expecting tensor size: ", it->second.count, " but got: ", count));
    }
    if (!Same(it->second.shape, shape)) {
      return Invalid(
          absl::StrCat("Expecting shape ", Listed(it->second.shape), " but got: ", Listed(shape)));
    }
    return absl::OkStatus();
  }

  void Finish(int64_t rows) {
    for (auto& [name, tensor] : *tensors_) {
      tensor.mutable_tensor_shape()->add_dim()->set_size(rows);
      tensor.mutable_tensor_shape()->MergeFrom(rows_.at(name).shape);
    }
  }

 private:
  struct Row {
    int64_t count;
    TensorShapeProto shape;
  };
  const Signature& signature_;
  TensorMap* const tensors_;
  std::map<std::string, Row> rows_;
};

absl::Status ReadRows(const Value& instances, const Signature& signature, TensorMap* tensors) {
  if (!instances[0].IsObject() && signature.inputs.size() > 1) {
    return Invalid(
        "instances is a plain list, but expecting list of objects as multiple input tensors "
        "required as per tensorinfo_map");
  }
  std::set<std::string> expected;
  for (const TensorSpec& spec : signature.inputs) expected.insert(spec.name);
  const bool named = IsNamed(instances[0]);
  RowReader reader(signature, tensors);
  int64_t row = 0;
  for (const Value& element : instances.GetArray()) {
    if (named != IsNamed(element)) {
      return Invalid(absl::StrCat(named ? "Expecting object but got list at item "
                                        : "Expecting value/list but got object at item ",
                                  row, " of input list"));
    }
    if (!named) {
      const absl::Status status = reader.Add(element, signature.inputs.front().name);
      if (!status.ok()) {
        return Invalid(absl::StrCat("Failed to process element: ", row,
                                    " of 'instances' list. Error: ", status.ToString()));
      }
    } else {
      std::set<std::string> keys;
      for (const auto& member : element.GetObject()) {
        const std::string name(member.name.GetString(), member.name.GetStringLength());
        if (!keys.insert(name).second) {
          return Invalid(absl::StrCat("Failed to process element: ", row, " key: ", name,
                                      " of 'instances' list. Error: it is given twice"));
        }
        const absl::Status status = reader.Add(member.value, name);
        if (!status.ok()) {
          return Invalid(absl::StrCat("Failed to process element: ", row, " key: ", name,
                                      " of 'instances' list. Error: ", status.ToString()));
        }
      }
      if (keys != expected) {
        return Invalid(absl::StrCat("Failed to process element: ", row,
                                    " of 'instances' list. JSON object: ", Shortened(element),
                                    " keys must be equal to: ", absl::StrJoin(expected, ",")));
      }
    }
    ++row;
  }
  reader.Finish(row);
  return absl::OkStatus();
}

absl::Status ReadColumn(const Value& value, const TensorSpec& spec, TensorMap* tensors) {
  TensorProto& tensor = (*tensors)[spec.name];
  tensor.set_dtype(static_cast<tensorflow::DataType>(spec.dtype));
  const absl::Status status = ShapeOf(value, tensor.mutable_tensor_shape());
  if (!status.ok()) return status;
  int64_t count = 0;
  return AddValues(value, 0, tensor.dtype(), tensor.tensor_shape(), &count, &tensor);
}

absl::Status ReadColumns(const Value& inputs, const Signature& signature, TensorMap* tensors) {
  if (!IsNamed(inputs)) {
    if (signature.inputs.size() > 1) {
      return Invalid(
          "inputs is a plain value/list, but expecting an object as multiple input tensors "
          "required as per tensorinfo_map");
    }
    return ReadColumn(inputs, signature.inputs.front(), tensors);
  }
  for (const TensorSpec& spec : signature.inputs) {
    const auto item = inputs.FindMember(spec.name.c_str());
    if (item == inputs.MemberEnd()) {
      if (spec.optional) continue;
      return Invalid(absl::StrCat("Missing named input: ", spec.name, " in 'inputs' object."));
    }
    const absl::Status status = ReadColumn(item->value, spec, tensors);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Writes the elements of one tensor, in order.
class Elements {
 public:
  Elements(const Tensor& tensor, bool base64, JsonWriter* json)
      : tensor_(tensor), base64_(base64), json_(json) {}

  // Lists of the dimensions from `dim` on.
  absl::Status Write(const std::vector<int64_t>& dims, size_t dim) {
    if (dim == dims.size()) return WriteOne();
    json_->StartArray();
    for (int64_t i = 0; i < dims[dim]; ++i) {
      const absl::Status status = Write(dims, dim + 1);
      if (!status.ok()) return status;
    }
    json_->EndArray();
    return absl::OkStatus();
  }

 private:
  template <typename T>
  T Next() {
    return static_cast<const T*>(tenon_tensor_data(tensor_.get()))[next_++];
  }

  absl::Status WriteOne() {
    switch (tensor_.dtype()) {
      case TENON_FLOAT:
        json_->Float(Next<float>());
        break;
      case TENON_DOUBLE:
        json_->Double(Next<double>());
        break;
      case TENON_HALF:
        json_->Float(static_cast<float>(Next<half>()));
        break;
      case TENON_BFLOAT16:
        json_->Float(static_cast<float>(Next<bfloat16>()));
        break;
      case TENON_INT32:
        json_->Int(Next<int32_t>());
        break;
      case TENON_INT16:
        json_->Int(Next<int16_t>());
        break;
      case TENON_INT8:
        json_->Int(Next<int8_t>());
        break;
      case TENON_UINT8:
        json_->Int(Next<uint8_t>());
        break;
      case TENON_UINT16:
        json_->Int(Next<uint16_t>());
        break;
      case TENON_INT64:
        json_->Int(Next<int64_t>());
        break;
      case TENON_UINT32:
        json_->Uint(Next<uint32_t>());
        break;
      case TENON_UINT64:
        json_->Uint(Next<uint64_t>());
        break;
      case TENON_BOOL:
        json_->Bool(Next<bool>());
        break;
      case TENON_STRING: {
        const std::string text = tensor_.GetString(next_++);
        if (base64_) {
          json_->StartObject();
          json_->Key("b64");
          json_->Text(absl::Base64Escape(text));
          json_->EndObject();
        } else {
          json_->Text(text);
        }
        break;
      }
      default:
        return Invalid(absl::StrCat("Failed to write JSON value for tensor type: ",
                                    DTypeName(static_cast<tensorflow::DataType>(tensor_.dtype()))));
    }
    return absl::OkStatus();
  }

  const Tensor tensor_;
  const bool base64_;
  JsonWriter* const json_;
  int64_t next_ = 0;
};

struct Output {
  std::string name;
  std::vector<int64_t> dims;
  Elements elements;
};

}  // namespace

absl::Status PredictRequestFromJson(absl::string_view json, const FindSignatureFn& find,
                                    tensorflow::serving::PredictRequest* request,
                                    JsonFormat* format) {
  rapidjson::Document document;
  absl::Status status = ParseJsonObject(json, &document);
  if (status.ok()) {
    status = ReadSignatureName(document, request->mutable_model_spec());
  }
  if (!status.ok()) return status;
  const auto signature = find(request->model_spec().signature_name());
  if (!signature.ok()) return signature.status();
  if ((*signature)->inputs.empty()) {
    const std::string& name = request->model_spec().signature_name();
    return Invalid(
        absl::StrCat("Failed to get input map for signature: ", name.empty() ? "DEFAULT" : name));
  }
  const auto complain = [&](const std::string& what) {
    return Invalid(absl::StrCat("JSON Value: ", Shortened(document), " ", what));
  };
  const auto rows = document.FindMember("instances");
  const auto columns = document.FindMember("inputs");
  if (rows != document.MemberEnd()) {
    if (columns != document.MemberEnd()) {
      return complain(
          "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ");
    }
    if (!rows->value.IsArray()) return complain("Expecting 'instances' to be an list/array");
    if (rows->value.Empty()) return complain("No values in 'instances' array");
    *format = JsonFormat::kRows;
    return ReadRows(rows->value, **signature, request->mutable_inputs());
  }
  if (columns == document.MemberEnd()) return Invalid("Missing 'inputs' or 'instances' key");
  *format = JsonFormat::kColumns;
  return ReadColumns(columns->value, **signature, request->mutable_inputs());
}

absl::Status PredictResponseToJson(const tensorflow::serving::PredictResponse& response,
                                   JsonFormat format, std::string* text) {
  if (response.outputs().empty()) return Invalid("Cannot convert empty tensor map to JSON");
  JsonWriter json;
  const bool by_rows = format == JsonFormat::kRows;
  std::vector<Output> outputs;
  int64_t rows = -1;
  for (const auto& [name, proto] : response.outputs()) {
    auto tensor = FromProto(name, proto);
    if (!tensor.ok()) return tensor.status();
    std::vector<int64_t> dims = tensor->dims();
    if (by_rows) {
      if (dims.empty()) {
        return Invalid(absl::StrCat("Tensor name: ", name, " has no shape information "));
      }
      if (rows >= 0 && rows != dims[0]) {
        return Invalid(absl::StrCat("Tensor name: ", name, " has inconsistent batch size: ",
                                    dims[0], " expecting: ", rows));
      }
      rows = dims[0];
    }
    const bool base64 = proto.dtype() == tensorflow::DT_STRING && absl::EndsWith(name, "_bytes");
    outputs.push_back({name, std::move(dims), Elements(*std::move(tensor), base64, &json)});
  }
  const bool named = outputs.size() > 1;
  const auto write = [&](size_t from_dim) {
    if (named) json.StartObject();
    for (Output& output : outputs) {
      if (named) json.Key(output.name);
      const absl::Status status = output.elements.Write(output.dims, from_dim);
      if (!status.ok()) return status;
    }
    if (named) json.EndObject();
    return absl::OkStatus();
  };
  absl::Status status;
  json.StartObject();
  json.Key(by_rows ? "predictions" : "outputs");
  if (by_rows) {
    json.StartArray();
    for (int64_t row = 0; row < rows && status.ok(); ++row) status = write(1);
    json.EndArray();
  } else {
    status = write(0);
  }
  if (!status.ok()) return status;
  json.EndObject();
  *text = json.Take();
  return absl::OkStatus();
}

}  // namespace tenon::serve
