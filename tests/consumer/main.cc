// consumer MODEL DECODERS: runs an MLP of one float input [?, 16] in every way that tenon.hpp has,
// generates tokens with the decoders of tests/models/generate, and checks that errors arrive.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "tenon/tenon.hpp"

namespace {

int failures = 0;

void Expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  ++failures;
}

template <typename F>
void ExpectError(tenon_code code, F f) {
  try {
    f();
    Expect(false, "an error was thrown");
  } catch (const tenon::Error& error) {
    std::printf("as it should: %s\n", error.what());
    Expect(error.code() == code, "the error has the right code");
  }
}

void Elements() {
  const float values[] = {0, 1, -2.5f, 65504, 1e-7f, 3.1415927f, -1.0f / 3};
  for (const float v : values) {
    const float b = static_cast<float>(tenon::bfloat16(v));
    const float h = static_cast<float>(tenon::half(v));
    Expect(b >= v - std::abs(v) / 256 && b <= v + std::abs(v) / 256, "bfloat16 is near");
    const float ulp = std::max(std::abs(v) / 2048, 1.0f / 33554432);
    Expect(h >= v - ulp && h <= v + ulp, "half is near");
  }
  Expect(tenon::half(1.0f).bits == 0x3c00 && tenon::bfloat16(1.0f).bits == 0x3f80, "ones");
  Expect(tenon::half(65520.0f).bits == 0x7c00, "half overflows to infinity");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Expect(static_cast<float>(tenon::half(nan)) != static_cast<float>(tenon::half(nan)), "NaN");
  Expect(static_cast<float>(tenon::bfloat16(nan)) != 0, "NaN");

  tenon::Tensor numbers = tenon::Tensor::Create<std::complex<float>>({2});
  numbers.elements<std::complex<float>>()[1] = {1, 2};
  Expect(numbers.dtype() == TENON_COMPLEX64 && numbers.bytes() == 16, "a complex tensor");
  const tenon::Tensor small = tenon::Tensor::From<tenon::bfloat16>({1}, {tenon::bfloat16(2.0f)});
  Expect(static_cast<float>(*small.data<tenon::bfloat16>()) == 2, "a bfloat16 tensor");
  ExpectError(TENON_INVALID_ARGUMENT, [&] { small.data<tenon::half>(); });

  tenon::Tensor shared = numbers;  // shares
  tenon::Tensor own = numbers.Clone();
  shared.elements<std::complex<float>>()[0] = 7;
  Expect(numbers.elements<std::complex<float>>()[0].real() == 7, "copies share elements");
  Expect(own.elements<std::complex<float>>()[0].real() != 7, "clones do not");
  const tenon::Tensor moved = std::move(shared);
  Expect(moved.num_elements() == 2, "tensors move");
}

void Models(const std::string& path) {
  const tenon::Model model = tenon::Model::Open(path);
  Expect(model.format() == "SavedModel", "its format");
  const std::vector<tenon::Signature> all = model.signatures();
  const auto found = std::find_if(all.begin(), all.end(), [](const tenon::Signature& s) {
    return s.name == "serving_default" && s.method == "tensorflow/serving/predict";
  });
  Expect(found != all.end(), "it has serving_default");
  const tenon::Signature signature = *found;
  Expect(signature.inputs.at(0).dims == std::vector<int64_t>({-1, 16}), "the shape of its input");
  Expect(model.Explain({"*"}).find("\"schema\":\"tenon.explanation\"") != std::string::npos,
         "an explanation");
  tenon::Session session(model);
  Expect(session.outputs().at(0).dims == std::vector<int64_t>({-1, 1}), "the shape of its output");
  Expect(session.outputs().at(0).dtype == TENON_FLOAT, "the dtype of its output");

  std::ifstream file(path + "/saved_model.pb", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const tenon::Model parsed = tenon::Model::Parse(bytes);
  Expect(parsed.signatures().size() == all.size(), "its signatures from memory");
  ExpectError(TENON_FAILED_PRECONDITION, [&] { tenon::Session needs_variables(parsed); });
}

void Runs(const std::string& path) {
  tenon::Session session(path);
  tenon::Tensor input = tenon::Tensor::Create<float>({2, 16});
  for (float& x : input.elements<float>()) x = 1;
  const std::vector<tenon::Tensor> outputs = session.Run({&input});
  const float* scores = outputs.at(0).data<float>();
  std::printf("%s: %g %g\n", session.output_names().at(0).c_str(), scores[0], scores[1]);
  Expect(outputs[0].dims() == std::vector<int64_t>{2, 1} && scores[0] == scores[1], "the scores");
  const std::vector<tenon::Tensor> sum = tenon::eager::Execute("AddV2", {outputs[0], outputs[0]});
  Expect(sum.at(0).data<float>()[0] == 2 * scores[0], "their sum");

  const auto by_name = session.RunNamed({{"features", input}}, {"output_0"});
  Expect(by_name.at(0).data<float>()[0] == scores[0], "a run by name");
  tenon::Tensor place = tenon::Tensor::Create<float>({2, 1});
  tenon::Tensor* const places[] = {&place};
  session.RunInto({input}, places);
  Expect(place.data<float>()[1] == scores[1], "a run into memory");

  tenon::Profile profile;
  tenon::RunOptions options;
  options.profile = &profile;
  options.timeout = std::chrono::minutes(10);
  session.Run({input}, options);
  Expect(profile.num_runs() == 1 && profile.Trace().find("traceEvents") != std::string::npos,
         "a profile");
  Expect(session.Memory().weights + session.Memory().packed > 0, "bytes of memory");
  Expect(session.Report().find("tenon.session") != std::string::npos, "a report");
  Expect(tenon::Devices().find("CPU:0") != std::string::npos, "the devices");

  const tenon::CancelToken token, same = token;
  options.cancel = &same;
  token.Request();
  ExpectError(TENON_CANCELLED, [&] { session.Run({input}, options); });
  options.cancel = nullptr;
  options.timeout = std::chrono::nanoseconds(-1);
  ExpectError(TENON_DEADLINE_EXCEEDED, [&] { session.Run({input}, options); });
  const tenon::Tensor wrong = tenon::Tensor::Create<float>({2, 15});
  ExpectError(TENON_INVALID_ARGUMENT, [&] { session.Run({wrong}); });
  ExpectError(TENON_INVALID_ARGUMENT, [&] { session.RunNamed({{"nobody", input}}); });
  ExpectError(TENON_INVALID_ARGUMENT, [&] { tenon::Generator no_tokens(session); });
  tenon::Session moved = std::move(session);
  Expect(moved.Run({input}).size() == 1, "sessions move");
}

std::vector<int64_t> Take(tenon::Generator& generator, size_t count) {
  std::vector<int64_t> tokens;
  while (tokens.size() < count) tokens.push_back(generator.Next());
  return tokens;
}

// "The mill", and what TensorFlow continues it with (tests/models/generate/expected.json).
const std::vector<int64_t> kPrompt = {84, 104, 101, 32, 109, 105, 108, 108};
const std::vector<int64_t> kTokens = {164, 154, 36, 131, 248, 231};

void Generates(const std::string& decoder) {
  const tenon::Session session(decoder);
  {
    tenon::Generator best(session);
    best.Prompt(kPrompt);
    Expect(Take(best, kTokens.size()) == kTokens, "TensorFlow's tokens");
    best.Reset();
    best.Prompt(tenon::Span<const int64_t>(kPrompt.data(), 3));
    best.Prompt(tenon::Span<const int64_t>(kPrompt.data() + 3, kPrompt.size() - 3));
    Expect(Take(best, kTokens.size()) == kTokens, "the same after a prompt in two parts");
    best.Reset();
    const tenon::CancelToken token;
    tenon::RunOptions limits;
    limits.cancel = &token;
    best.SetLimits(limits);
    token.Request();
    ExpectError(TENON_CANCELLED, [&] { best.Prompt(kPrompt); });
  }
  const auto sampled = [&](const tenon::GeneratorOptions& options) {
    tenon::Generator generator(session, options);
    generator.Prompt(kPrompt);
    std::vector<int64_t> tokens = Take(generator, kTokens.size());
    generator.Reset();
    return tokens;
  };
  tenon::GeneratorOptions options;
  options.temperature = 5;
  options.seed = 1;
  const std::vector<int64_t> one = sampled(options);
  Expect(one == sampled(options), "the same tokens of one seed");
  options.seed = 2;
  Expect(one != sampled(options), "other tokens of another seed");
  options.top_k = 1;
  Expect(sampled(options) == kTokens, "the best of one token");
  options.top_k = 0;
  options.top_p = 1e-9;
  Expect(sampled(options) == kTokens, "the best of a nucleus of one token");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    Elements();
    Models(argv[1]);
    Runs(argv[1]);
    for (const char* decoder : {"/variables", "/feedback"})
      Generates(argv[2] + std::string(decoder));
  } catch (const tenon::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
