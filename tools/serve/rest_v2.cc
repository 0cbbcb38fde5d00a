// The open inference protocol over REST.
#include <google/protobuf/util/json_util.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/serve/json.h"
#include "tools/serve/json_infer.h"
#include "tools/serve/metrics.h"
#include "tools/serve/percent.h"
#include "tools/serve/rest.h"

namespace tenon::serve {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kJsonSizeHeader[] = "Inference-Header-Content-Length";

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : ErrorJson(std::string(status.message()));
}

HttpResponse Failure(const absl::Status& status) {
  return {HttpStatusOf(status), kJson, {}, ErrorJson(status.message())};
}

HttpResponse Answer(const absl::Status& status, const std::string& json) {
  return status.ok() ? HttpResponse{200, kJson, {}, json} : Failure(status);
}

void WriteTensors(const google::protobuf::RepeatedPtrField<
                      inference::ModelMetadataResponse::TensorMetadata>& tensors,
                  const char* key, JsonWriter& json) {
  json.Key(key);
  json.StartArray();
  for (const auto& tensor : tensors) {
    json.StartObject();
    json.Key("name");
    json.Text(tensor.name());
    json.Key("datatype");
    json.Text(tensor.datatype());
    json.Key("shape");
    json.StartArray();
    for (const int64_t dim : tensor.shape()) json.Int(dim);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
}

// By hand: protobuf writes 64-bit numbers as strings.
std::string MetadataJson(const inference::ModelMetadataResponse& metadata) {
  JsonWriter json;
  json.StartObject();
  json.Key("name");
  json.Text(metadata.name());
  json.Key("versions");
  json.StartArray();
  for (const std::string& version : metadata.versions()) json.Text(version);
  json.EndArray();
  json.Key("platform");
  json.Text(metadata.platform());
  WriteTensors(metadata.inputs(), "inputs", json);
  WriteTensors(metadata.outputs(), "outputs", json);
  json.EndObject();
  return json.Take();
}

// In Triton's JSON, counts are numbers.
std::string StatisticsJson(const inference::ModelStatisticsResponse& statistics) {
  JsonWriter json;
  const auto number = [&](const char* key, uint64_t value) {
    json.Key(key);
    json.Uint(value);
  };
  const auto duration = [&](const char* key, const inference::StatisticDuration& value) {
    json.Key(key);
    json.StartObject();
    number("count", value.count());
    number("ns", value.ns());
    json.EndObject();
  };
  json.StartObject();
  json.Key("model_stats");
  json.StartArray();
  for (const auto& model : statistics.model_stats()) {
    json.StartObject();
    json.Key("name");
    json.Text(model.name());
    json.Key("version");
    json.Text(model.version());
    number("last_inference", model.last_inference());
    number("inference_count", model.inference_count());
    number("execution_count", model.execution_count());
    json.Key("inference_stats");
    json.StartObject();
    const auto& times = model.inference_stats();
    duration("success", times.success());
    duration("fail", times.fail());
    duration("queue", times.queue());
    duration("compute_input", times.compute_input());
    duration("compute_infer", times.compute_infer());
    duration("compute_output", times.compute_output());
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string ConfigJson(const inference::ModelConfig& config) {
  JsonWriter json;
  const auto tensors = [&](const char* key, const auto& list) {
    json.Key(key);
    json.StartArray();
    for (const auto& tensor : list) {
      json.StartObject();
      json.Key("name");
      json.Text(tensor.name());
      json.Key("data_type");
      json.Text(inference::DataType_Name(tensor.data_type()));
      json.Key("dims");
      json.StartArray();
      for (const int64_t dim : tensor.dims()) json.Int(dim);
      json.EndArray();
      json.EndObject();
    }
    json.EndArray();
  };
  json.StartObject();
  json.Key("name");
  json.Text(config.name());
  json.Key("platform");
  json.Text(config.platform());
  json.Key("backend");
  json.Text(config.backend());
  json.Key("max_batch_size");
  json.Int(config.max_batch_size());
  tensors("input", config.input());
  tensors("output", config.output());
  json.EndObject();
  return json.Take();
}

}  // namespace

void RestApi::HandleV2(const HttpRequest& request, Respond respond) {
  const bool get = request.method == "GET" || request.method == "HEAD";
  const HttpResponse not_found = {404, kJson, {}, ErrorJson("Not Found")};
  const HttpResponse wrong_method = {405, kJson, {}, ErrorJson("Method Not Allowed")};
  std::vector<std::string> parts;
  for (const absl::string_view part : absl::StrSplit(request.path.substr(1), '/')) {
    std::string decoded;
    if (!DecodePercent(part, &decoded)) return respond(not_found);
    parts.push_back(std::move(decoded));
  }
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();  // a slash at the end
  const size_t n = parts.size();
  if (n == 1) {
    if (!get) return respond(wrong_method);
    inference::ServerMetadataResponse metadata;
    kserve_.ServerMetadata(&metadata);
    return respond({200, kJson, {}, ToJson(metadata)});
  }
  if (parts[1] == "health" && n == 3) {
    if (!get) return respond(wrong_method);
    if (parts[2] == "live") return respond({200, kJson, {}, ""});
    if (parts[2] == "ready") return respond({kserve_.Ready() ? 200 : 503, kJson, {}, ""});
    return respond(not_found);
  }
  if (parts[1] == "repository" && n == 3 && parts[2] == "index") {
    if (request.method != "POST") return respond(wrong_method);
    inference::RepositoryIndexResponse index;
    kserve_.Index(absl::StrContains(request.body, "\"ready\""), &index);
    JsonWriter json;
    json.StartArray();
    for (const auto& model : index.models()) {
      json.StartObject();
      for (const auto& [key, value] :
           {std::pair("name", model.name()), std::pair("version", model.version()),
            std::pair("state", model.state()), std::pair("reason", model.reason())}) {
        json.Key(key);
        json.Text(value);
      }
      json.EndObject();
    }
    json.EndArray();
    return respond({200, kJson, {}, json.Take()});
  }
  if (parts[1] != "models") return respond(not_found);
  if (n == 3 && parts[2] == "stats") {
    inference::ModelStatisticsResponse statistics;
    const absl::Status status = kserve_.Statistics("", "", &statistics);
    return respond(Answer(status, StatisticsJson(statistics)));
  }
  // models/NAME[/versions/V][/WHAT]
  const bool versioned = n >= 5 && parts[3] == "versions";
  const size_t end = versioned ? 5 : 3;
  if (n < 3 || n > end + 1) return respond(not_found);
  const std::string& name = parts[2];
  const std::string version = versioned ? parts[4] : "";
  const std::string what = n > end ? parts[end] : "";
  if (what == "infer") {
    if (request.method != "POST") return respond(wrong_method);
    return Infer(request, name, version, std::move(respond));
  }
  if (!get) return respond(wrong_method);
  if (what == "ready") {
    return respond({kserve_.ModelReady(name, version) ? 200 : 503, kJson, {}, ""});
  }
  if (what.empty()) {
    inference::ModelMetadataResponse metadata;
    const absl::Status status = kserve_.ModelMetadata(name, version, &metadata);
    return respond(Answer(status, MetadataJson(metadata)));
  }
  if (what == "config") {
    inference::ModelConfig config;
    const absl::Status status = kserve_.ModelConfig(name, version, &config);
    return respond(Answer(status, ConfigJson(config)));
  }
  if (what == "stats") {
    inference::ModelStatisticsResponse statistics;
    const absl::Status status = kserve_.Statistics(name, version, &statistics);
    return respond(Answer(status, StatisticsJson(statistics)));
  }
  respond(not_found);
}

void RestApi::Infer(const HttpRequest& http, const std::string& model, const std::string& version,
                    Respond respond) {
  struct Call {
    inference::ModelInferRequest request;
    inference::ModelInferResponse response;
    BinaryOutputs binary;
    Respond respond;
    Clock::time_point start = Clock::now();
  };
  auto call = std::make_shared<Call>();
  call->respond = std::move(respond);
  const auto finish = [call](const absl::Status& status, HttpResponse response) {
    const std::chrono::duration<double, std::micro> took = Clock::now() - call->start;
    const bool known = status.code() != absl::StatusCode::kNotFound;
    Metrics::Get().Request(known ? call->request.model_name() : "", "ModelInfer", "REST", status,
                           took.count());
    call->respond(status.ok() ? std::move(response) : Failure(status));
  };
  call->request.set_model_name(model);
  call->request.set_model_version(version);
  int64_t json_bytes = -1;
  const absl::string_view size = http.Header(kJsonSizeHeader);
  if (!size.empty() && (!absl::SimpleAtoi(size, &json_bytes) || json_bytes < 0)) {
    return finish(absl::InvalidArgumentError(absl::StrCat(kJsonSizeHeader, " is no number")), {});
  }
  const absl::Status read =
      InferRequestFromJson(http.body, json_bytes, &call->request, &call->binary);
  if (!read.ok()) return finish(read, {});
  kserve_.Infer(
      call->request, &call->response, NewCaller(call->start), [call, finish](absl::Status status) {
        HttpResponse response;
        int64_t json_bytes = -1;
        if (status.ok()) {
          status = InferResponseToJson(call->response, call->binary, &response.body, &json_bytes);
        }
        if (json_bytes >= 0) {
          response.content_type = "application/octet-stream";
          response.headers.emplace_back(kJsonSizeHeader, absl::StrCat(json_bytes));
        }
        finish(status, std::move(response));
      });
}

}  // namespace tenon::serve
