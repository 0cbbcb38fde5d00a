#include "tools/serve/rest.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/serve/json.h"
#include "tools/serve/json_tensors.h"
#include "tools/serve/metrics.h"
#include "tools/serve/page.h"
#include "tools/serve/percent.h"
#include "tools/serve/trace.h"

namespace tenon::serve {
namespace {

using namespace tensorflow::serving;  // NOLINT: all names below are messages
using google::protobuf::util::JsonPrintOptions;
using google::protobuf::util::MessageToJsonString;

std::string ToJson(const google::protobuf::Message& message, bool proto_names) {
  JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = proto_names;
  std::string json;
  const auto status = MessageToJsonString(message, &json, options);
  return status.ok() ? json : ErrorJson(std::string(status.message()));
}

HttpResponse Failure(const absl::Status& status) {
  HttpResponse response;
  response.status = HttpStatusOf(status);
  response.body = ErrorJson(status.message());
  if (status.code() == absl::StatusCode::kResourceExhausted) {
    response.headers.emplace_back("Retry-After", "1");
  }
  return response;
}

// Request and response of a call while it runs.
template <typename Request, typename Response>
struct Exchange {
  Request request;
  Response response;
  Respond respond;
  std::string model;
  const char* api;
  Clock::time_point start = Clock::now();

  void Finish(const absl::Status& status, std::string json) {
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    const bool known = status.code() != absl::StatusCode::kNotFound;
    Metrics::Get().Request(known ? model : "", api, "REST", status, took.count());
    if (!status.ok()) return respond(Failure(status));
    respond({200, "application/json", {}, std::move(json)});
  }
};

}  // namespace

int HttpStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

Caller RestApi::NewCaller(Clock::time_point arrived) const {
  Caller caller;
  caller.arrived = arrived;
  if (options_.timeout.count() > 0) caller.deadline = Clock::now() + options_.timeout;
  return caller;
}

void RestApi::Handle(const HttpRequest& request, Respond respond) {
  if (options_.cors) {
    respond = [respond = std::move(respond)](HttpResponse response) {
      response.headers.emplace_back("Access-Control-Allow-Origin", "*");
      response.headers.emplace_back("Access-Control-Allow-Methods", "POST, GET");
      response.headers.emplace_back("Access-Control-Allow-Headers", "Content-Type");
      respond(std::move(response));
    };
    if (request.method == "OPTIONS") return respond({200, "application/json", {}, ""});
  }
  Trace trace = Trace::Parse(request.Header(kTraceHeader));
  if (!trace.header.empty()) {
    respond = [respond = std::move(respond), trace = std::move(trace), start = Clock::now(),
               call = absl::StrCat(request.method, " ", request.path)](HttpResponse response) {
      const std::chrono::duration<double, std::micro> took = Clock::now() - start;
      LogTraced(trace, call, "", absl::StrCat(response.status), response.status >= 400,
                took.count());
      response.headers.emplace_back(kTraceHeader, trace.header);
      respond(std::move(response));
    };
  }
  // Health needs no token.
  if (options_.tokens != nullptr && !absl::StartsWith(request.path, "/v2/health/") &&
      !options_.tokens->Allows(request.Header("authorization"))) {
    HttpResponse refusal = Failure(absl::UnauthenticatedError("a valid bearer token is needed"));
    refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
    return respond(std::move(refusal));
  }
  Route(request, std::move(respond));
}

void RestApi::Route(const HttpRequest& request, Respond respond) {
  const std::string& path = request.path;
  const bool get = request.method == "GET" || request.method == "HEAD";
  if (path == "/" && get) {
    return respond({200,
                    "text/html; charset=utf-8",
                    {{"Content-Security-Policy", kPagePolicy}},
                    StartPage(predictor_.repository())});
  }
  if (absl::StartsWith(path, kGraphsPath) && get) {
    return graphs_.Make(predictor_.repository(), path, std::move(respond));
  }
  if (path == "/metrics" || path == "/monitoring/prometheus/metrics" ||
      (!options_.metrics_path.empty() && path == options_.metrics_path)) {
    return respond({200, "text/plain; version=0.0.4", {}, Metrics::Get().Text()});
  }
  const std::string lower = absl::AsciiStrToLower(path);
  if (absl::StartsWith(lower, "/v1/")) return HandleV1(request, std::move(respond));
  if (lower == "/v2" || absl::StartsWith(lower, "/v2/")) {
    return HandleV2(request, std::move(respond));
  }
  respond({404, "application/json", {}, ErrorJson("Not Found")});
}

absl::StatusOr<RestApi::Target> RestApi::ParseTarget(const HttpRequest& request) {
  const absl::Status malformed = absl::InvalidArgumentError(
      absl::StrCat("Malformed request: ", request.method, " ", request.path));
  Target target;
  absl::string_view path = request.path;
  path.remove_prefix(std::string("/v1/").size());
  if (request.method == "POST") {
    const size_t colon = path.rfind(':');
    if (colon == absl::string_view::npos) return malformed;
    target.method = absl::AsciiStrToLower(path.substr(colon + 1));
    if (target.method != "predict" && target.method != "classify" && target.method != "regress") {
      return malformed;
    }
    path = path.substr(0, colon);
  } else if (request.method != "GET" && request.method != "HEAD") {
    return malformed;
  }
  std::vector<std::string> parts = absl::StrSplit(path, '/');
  if (!absl::EqualsIgnoreCase(parts[0], "models")) return malformed;
  if (target.method.empty() && parts.size() > 1 &&
      absl::EqualsIgnoreCase(parts.back(), "metadata") && parts.size() != 2) {
    target.subresource = "metadata";
    parts.pop_back();
  }
  if (parts.size() != 2 && parts.size() != 4) {
    if (parts.size() == 1 && target.method.empty()) {
      return absl::InvalidArgumentError("Missing model name in request.");
    }
    return malformed;
  }
  for (const std::string& part : parts) {
    if (part.empty() || absl::StrContains(part, ':')) return malformed;
  }
  std::string decoded;
  if (!DecodePercent(parts[1], &decoded)) {
    return absl::InvalidArgumentError(absl::StrCat("Failed to decode model name:", parts[1]));
  }
  target.spec.set_name(decoded);
  if (parts.size() == 2) return target;
  if (absl::EqualsIgnoreCase(parts[2], "versions")) {
    if (parts[3].find_first_not_of("0123456789") != std::string::npos) return malformed;
    int64_t version;
    if (!absl::SimpleAtoi(parts[3], &version)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Failed to convert version: ", parts[3], " to numeric."));
    }
    target.spec.mutable_version()->set_value(version);
  } else if (absl::EqualsIgnoreCase(parts[2], "labels")) {
    if (!DecodePercent(parts[3], &decoded)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Failed to decode model version label:", parts[3]));
    }
    target.spec.set_version_label(decoded);
  } else {
    return malformed;
  }
  return target;
}

absl::StatusOr<std::string> RestApi::Get(const Target& target) const {
  if (target.subresource.empty()) {
    GetModelStatusRequest request;
    *request.mutable_model_spec() = target.spec;
    GetModelStatusResponse response;
    const absl::Status status = predictor_.Status(request, &response);
    if (!status.ok()) return status;
    return ToJson(response, false);
  }
  const auto servable = predictor_.repository().Find(target.spec);
  if (!servable.ok()) return servable.status();
  ModelSpec spec;
  spec.set_name((*servable)->name());
  spec.mutable_version()->set_value((*servable)->version());
  // "signature_def" twice: the key of the metadata, and the field of its message.
  return absl::StrCat(
      "{\n\"model_spec\":", ToJson(spec, true),
      ",\n\"metadata\": {\"signature_def\": ", ToJson(SignaturesOf(**servable), true), "}\n}\n");
}

void RestApi::HandleV1(const HttpRequest& request, Respond respond) {
  const auto target = ParseTarget(request);
  if (!target.ok()) return respond(Failure(target.status()));
  if (target->method.empty()) {
    auto json = Get(*target);
    if (!json.ok()) return respond(Failure(json.status()));
    return respond({200, "application/json", {}, *std::move(json)});
  }
  if (target->method == "predict") {
    auto call = std::make_shared<Exchange<PredictRequest, PredictResponse>>();
    call->respond = std::move(respond);
    call->model = target->spec.name();
    call->api = "predict";
    *call->request.mutable_model_spec() = target->spec;
    JsonFormat format = JsonFormat::kRows;
    std::shared_ptr<Servable> servable;  // keeps the signature
    const auto find = [&](const std::string& name) -> absl::StatusOr<const Signature*> {
      const auto found = predictor_.repository().Find(call->request.model_spec());
      if (!found.ok()) return found.status();
      servable = *found;
      const Runnable* const runnable = servable->Find(name);
      if (runnable == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat("Serving signature name: \"",
                                                       name.empty() ? kDefaultSignature : name,
                                                       "\" not found in signature def"));
      }
      return &runnable->signature;
    };
    const absl::Status read = PredictRequestFromJson(request.body, find, &call->request, &format);
    if (!read.ok()) return call->Finish(read, "");
    return predictor_.Predict(call->request, &call->response, NewCaller(call->start),
                              [call, format](absl::Status status) {
                                std::string json;
                                if (status.ok()) {
                                  status = PredictResponseToJson(call->response, format, &json);
                                }
                                call->Finish(status, std::move(json));
                              });
  }
  if (target->method == "classify") {
    auto call = std::make_shared<Exchange<ClassificationRequest, ClassificationResponse>>();
    call->respond = std::move(respond);
    call->model = target->spec.name();
    call->api = "classify";
    *call->request.mutable_model_spec() = target->spec;
    const absl::Status read = ClassificationRequestFromJson(request.body, &call->request);
    if (!read.ok()) return call->Finish(read, "");
    return predictor_.Classify(call->request, &call->response, NewCaller(call->start),
                               [call](absl::Status status) {
                                 std::string json;
                                 if (status.ok()) {
                                   status = ClassificationToJson(call->response.result(), &json);
                                 }
                                 call->Finish(status, std::move(json));
                               });
  }
  auto call = std::make_shared<Exchange<RegressionRequest, RegressionResponse>>();
  call->respond = std::move(respond);
  call->model = target->spec.name();
  call->api = "regress";
  *call->request.mutable_model_spec() = target->spec;
  const absl::Status read = RegressionRequestFromJson(request.body, &call->request);
  if (!read.ok()) return call->Finish(read, "");
  predictor_.Regress(call->request, &call->response, NewCaller(call->start),
                     [call](absl::Status status) {
                       std::string json;
                       if (status.ok()) status = RegressionToJson(call->response.result(), &json);
                       call->Finish(status, std::move(json));
                     });
}

}  // namespace tenon::serve
