// Classify and Regress in JSON, and what all requests share.
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tools/serve/json.h"
#include "tools/serve/json_base64.h"
#include "tools/serve/json_tensors.h"

namespace tenon::serve {
namespace {

using rapidjson::Value;
using tensorflow::Feature;

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

// Whether the feature can take values of this kind: all of a feature's are of one kind.
bool Takes(const Feature& feature, Feature::KindCase kind) {
  return feature.kind_case() == Feature::KIND_NOT_SET || feature.kind_case() == kind;
}

absl::Status AddToFeature(const Value& value, const std::string& name, Feature* feature) {
  const auto mixed = [&] {
    return Invalid(absl::StrCat("Unexpected element type in feature: ", name,
                                ": all elements must be of one type"));
  };
  if (value.IsBool()) {
    if (!Takes(*feature, Feature::kInt64List)) return mixed();
    feature->mutable_int64_list()->add_value(value.GetBool() ? 1 : 0);
  } else if (value.IsString()) {
    if (!Takes(*feature, Feature::kBytesList)) return mixed();
    feature->mutable_bytes_list()->add_value(value.GetString(), value.GetStringLength());
  } else if (IsBase64(value)) {
    if (!Takes(*feature, Feature::kBytesList)) return mixed();
    return DecodeBase64(value, feature->mutable_bytes_list()->add_value());
  } else if (value.IsDouble()) {
    if (!Takes(*feature, Feature::kFloatList)) return mixed();
    feature->mutable_float_list()->add_value(static_cast<float>(value.GetDouble()));
  } else if (value.IsNumber()) {
    if (!Takes(*feature, Feature::kInt64List)) return mixed();
    if (!value.IsInt64()) {
      return Invalid(
          absl::StrCat("Feature: ", name, " has uint64_t element. Only int64_t is supported."));
    }
    feature->mutable_int64_list()->add_value(value.GetInt64());
  } else {
    return Invalid(absl::StrCat("Feature: ", name, " has element with unexpected JSON type: ",
                                value.IsNull()    ? "Null"
                                : value.IsArray() ? "Array"
                                                  : "Object"));
  }
  return absl::OkStatus();
}

absl::Status ReadExample(const Value& value, tensorflow::Example* example) {
  if (!value.IsObject()) return Invalid("Example must be JSON object");
  for (const auto& member : value.GetObject()) {
    const std::string name(member.name.GetString(), member.name.GetStringLength());
    Feature& feature = (*example->mutable_features()->mutable_feature())[name];
    feature.Clear();
    if (!member.value.IsArray()) {
      const absl::Status status = AddToFeature(member.value, name, &feature);
      if (!status.ok()) return status;
      continue;
    }
    for (const Value& element : member.value.GetArray()) {
      const absl::Status status = AddToFeature(element, name, &feature);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

template <typename Request>
absl::Status ReadRequest(absl::string_view json, Request* request) {
  rapidjson::Document document;
  absl::Status status = ParseJsonObject(json, &document);
  if (status.ok()) status = ReadSignatureName(document, request->mutable_model_spec());
  if (!status.ok()) return status;
  const auto complain = [&](const char* what) {
    return Invalid(absl::StrCat("JSON Value: ", Shortened(document), " ", what));
  };
  auto* const input = request->mutable_input();
  const auto context = document.FindMember("context");
  const bool has_context = context != document.MemberEnd();
  if (has_context) {
    status =
        ReadExample(context->value, input->mutable_example_list_with_context()->mutable_context());
    if (!status.ok()) return status;
  }
  const auto examples = document.FindMember("examples");
  if (examples == document.MemberEnd()) {
    return complain("When method is classify, key 'examples' is expected and was not found");
  }
  if (!examples->value.IsArray()) {
    return complain("Expecting 'examples' value to be an list/array");
  }
  if (examples->value.Empty()) return complain("'examples' value is an empty array");
  for (const Value& value : examples->value.GetArray()) {
    status =
        ReadExample(value, has_context ? input->mutable_example_list_with_context()->add_examples()
                                       : input->mutable_example_list()->add_examples());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

bool IsBase64(const Value& value) {
  if (!value.IsObject() || value.MemberCount() != 1) return false;
  const auto member = value.FindMember("b64");
  return member != value.MemberEnd() && member->value.IsString();
}

absl::Status DecodeBase64(const Value& value, std::string* bytes) {
  if (!IsBase64(value)) {
    return Invalid(
        absl::StrCat("JSON Value: ", Shortened(value), " not formatted correctly for base64 data"));
  }
  const Value& text = value.FindMember("b64")->value;
  if (!absl::Base64Unescape(absl::string_view(text.GetString(), text.GetStringLength()), bytes)) {
    return Invalid("Unable to base64 decode");
  }
  return absl::OkStatus();
}

absl::Status ReadSignatureName(const rapidjson::Document& document,
                               tensorflow::serving::ModelSpec* spec) {
  const auto name = document.FindMember("signature_name");
  if (name == document.MemberEnd()) return absl::OkStatus();
  if (!name->value.IsString()) {
    return Invalid(
        absl::StrCat("JSON Value: ", Shortened(document),
                     " not formatted correctly. 'signature_name' key must be a string value."));
  }
  spec->set_signature_name(name->value.GetString(), name->value.GetStringLength());
  return absl::OkStatus();
}

absl::Status ClassificationRequestFromJson(absl::string_view json,
                                           tensorflow::serving::ClassificationRequest* request) {
  return ReadRequest(json, request);
}

absl::Status RegressionRequestFromJson(absl::string_view json,
                                       tensorflow::serving::RegressionRequest* request) {
  return ReadRequest(json, request);
}

absl::Status ClassificationToJson(const tensorflow::serving::ClassificationResult& result,
                                  std::string* text) {
  if (result.classifications().empty()) {
    return Invalid("Cannot convert empty ClassificationResults to JSON");
  }
  JsonWriter json;
  json.StartObject();
  json.Key("results");
  json.StartArray();
  for (const auto& example : result.classifications()) {
    json.StartArray();
    for (const auto& item : example.classes()) {
      json.StartArray();
      json.Text(item.label());
      json.Float(item.score());
      json.EndArray();
    }
    json.EndArray();
  }
  json.EndArray();
  json.EndObject();
  *text = json.Take();
  return absl::OkStatus();
}

absl::Status RegressionToJson(const tensorflow::serving::RegressionResult& result,
                              std::string* text) {
  if (result.regressions().empty()) {
    return Invalid("Cannot convert empty RegressionResults to JSON");
  }
  JsonWriter json;
  json.StartObject();
  json.Key("results");
  json.StartArray();
  for (const auto& regression : result.regressions()) json.Float(regression.value());
  json.EndArray();
  json.EndObject();
  *text = json.Take();
  return absl::OkStatus();
}

}  // namespace tenon::serve
