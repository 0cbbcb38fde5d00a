// Requests as they come from the network, without sockets: what any bytes make the server do.
//
//   serve_rest: "POST /v1/models/mlp:predict 0", a newline, the body; the number is the length of
//     the JSON text before binary tensors, 0 if there are none
//   serve_grpc: the number of a method, then its serialized request
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "inference.pb.h"
#include "serving.pb.h"
#include "tests/fuzz/targets/target.h"
#include "tests/support/source_dir.h"
#include "tools/serve/json.h"
#include "tools/serve/kserve.h"
#include "tools/serve/rest.h"

namespace tenon::serve {
namespace {

namespace fs = std::filesystem;
using namespace tensorflow::serving;  // NOLINT: all names below are messages

// Longer answers are hangs.
constexpr auto kPatience = std::chrono::seconds(30);

// A server's inside with a model of floats and one of strings. Lives as long as the program.
struct Inside {
  Inside() {
    const fs::path base = Folder();
    std::atexit([] { fs::remove_all(Folder()); });
    ModelServerConfig config;
    for (const auto& [name, path] : {std::pair{"mlp", "tests/models/mlp/saved_model"},
                                     std::pair{"words", "tests/models/text/words/saved_model"}}) {
      fs::create_directories(base / name);
      fs::create_directory_symlink(SourcePath(path), base / name / "1");
      auto* const model = config.mutable_model_config_list()->add_config();
      model->set_name(name);
      model->set_base_path(base / name);
    }
    const absl::Status configured = repository.Configure(config);
    if (!configured.ok() || repository.Servables().size() != 2)
      FuzzFailure("the models do not load");
  }

  static fs::path Folder() {
    return fs::temp_directory_path() / absl::StrCat("tenon_serve_fuzz_", getpid());
  }
  static RepositoryOptions OneThread() {
    RepositoryOptions options;
    options.load.threads = 1;
    options.poll = std::chrono::milliseconds(0);
    return options;
  }

  Repository repository{OneThread()};
  Scheduler scheduler{SchedulerOptions()};
  Predictor predictor{repository, scheduler, false};
  KServe kserve{predictor};
  RestApi rest{predictor, kserve, RestOptions()};
};

Inside& TheServer() {
  static auto* const inside = new Inside;
  return *inside;
}

int FuzzRest(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(bytes.find('\n'), bytes.size());
  const std::vector<std::string> words = absl::StrSplit(bytes.substr(0, line), ' ');
  if (words.size() != 3 || words[1].empty() || words[1][0] != '/') return 0;
  HttpRequest request;
  request.method = words[0];
  request.path = words[1];
  request.body = std::string(bytes.substr(std::min(line + 1, bytes.size())));
  if (words[2] != "0") request.headers.emplace_back("Inference-Header-Content-Length", words[2]);
  std::promise<HttpResponse> promise;
  auto answer = promise.get_future();
  TheServer().rest.Handle(request,
                          [&](HttpResponse response) { promise.set_value(std::move(response)); });
  if (answer.wait_for(kPatience) != std::future_status::ready) FuzzFailure("no answer");
  const HttpResponse response = answer.get();
  if (response.status >= 500 && response.status != 501 && response.status != 503) {
    FuzzFailure(absl::StrCat("status ", response.status, ": ", response.body));
  }
  if (response.status >= 400) {
    rapidjson::Document document;
    if (!ParseJsonObject(response.body, &document).ok() || !document.HasMember("error")) {
      FuzzFailure(absl::StrCat("an error without a message: ", response.body));
    }
  }
  return 0;
}

// One call of `run(request, response, caller, done)`.
template <typename Request, typename Response, typename Run>
void Call(absl::string_view bytes, const Run& run) {
  Request request;
  Response response;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  std::promise<absl::Status> promise;
  auto answer = promise.get_future();
  run(request, &response, Caller(), [&](const absl::Status& status) { promise.set_value(status); });
  if (answer.wait_for(kPatience) != std::future_status::ready) FuzzFailure("no answer");
  const absl::Status status = answer.get();
  if (status.ok()) {
    if (response.SerializeAsString().empty() && response.ByteSizeLong() > 0) {
      FuzzFailure("the answer cannot be serialized");
    }
  } else if (status.code() == absl::StatusCode::kInternal ||
             status.code() == absl::StatusCode::kUnknown || status.message().empty()) {
    FuzzFailure(status.ToString());
  }
}

int FuzzGrpc(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Predictor& predictor = TheServer().predictor;
  switch (data[0] % 6) {
    case 0:
      Call<PredictRequest, PredictResponse>(bytes,
                                            [&](auto&&... all) { predictor.Predict(all...); });
      break;
    case 1:
      Call<ClassificationRequest, ClassificationResponse>(
          bytes, [&](auto&&... all) { predictor.Classify(all...); });
      break;
    case 2:
      Call<RegressionRequest, RegressionResponse>(
          bytes, [&](auto&&... all) { predictor.Regress(all...); });
      break;
    case 3:
      Call<MultiInferenceRequest, MultiInferenceResponse>(
          bytes, [&](auto&&... all) { predictor.MultiInference(all...); });
      break;
    case 4:
      Call<inference::ModelInferRequest, inference::ModelInferResponse>(
          bytes, [](auto&&... all) { TheServer().kserve.Infer(all...); });
      break;
    default:
      Call<GetModelMetadataRequest, GetModelMetadataResponse>(
          bytes, [&](const auto& request, auto* response, const Caller&, const Done& done) {
            done(predictor.Metadata(request, response));
          });
  }
  return 0;
}

const FuzzTarget kRest("serve_rest", FuzzRest);
const FuzzTarget kGrpc("serve_grpc", FuzzGrpc);

}  // namespace
}  // namespace tenon::serve
