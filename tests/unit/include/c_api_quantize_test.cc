// Quantization through the C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "include/tenon/tenon.h"
#include "tests/support/source_dir.h"
#include "tests/unit/include/c_api_support.h"

namespace tenon::c_api_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class CApiQuantize : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        Message(tenon_model_open(SourcePath("tests/models/mlp/saved_model").c_str(), &model_)), "");
    std::vector<float> values(32 * 16);
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i * i));
    samples_ = FloatTensor({32, 16}, values);
    folder_ = std::filesystem::path(::testing::TempDir()) / "c_api_quantize";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    options_.least_weights = 16;
  }
  void TearDown() override {
    tenon_tensor_free(samples_);
    tenon_model_free(model_);
    std::filesystem::remove_all(folder_);
  }
  std::string Quantize(const std::string& output, int num_samples, Json* report = nullptr) {
    const char* const names[] = {"features"};
    tenon_text* text = nullptr;
    const std::string message =
        Message(tenon_quantize(model_, nullptr, &options_, names, &samples_, num_samples,
                               output.c_str(), report == nullptr ? nullptr : &text));
    if (report != nullptr && message.empty()) *report = Json::parse(tenon_text_data(text));
    tenon_text_free(text);
    return message;
  }
  // The model's first score for the first samples.
  float Score(const std::string& path) {
    tenon_session* session = nullptr;
    EXPECT_EQ(Message(tenon_session_create(path.c_str(), nullptr, &session)), "");
    tenon_tensor* output = nullptr;
    EXPECT_EQ(Message(tenon_session_run(session, &samples_, 1, &output, 1)), "");
    const float score = output == nullptr ? 0 : static_cast<float*>(tenon_tensor_data(output))[0];
    tenon_tensor_free(output);
    tenon_session_free(session);
    return score;
  }
  tenon_model* model_ = nullptr;
  tenon_tensor* samples_ = nullptr;
  std::filesystem::path folder_;
  tenon_quantize_options options_ = TENON_QUANTIZE_OPTIONS_INIT;
};

TEST_F(CApiQuantize, WeightsAndActivations) {
  std::vector<std::string> stages;
  options_.argument = &stages;
  options_.progress = [](void* argument, const char* stage, int64_t done, int64_t total) {
    EXPECT_LE(done, total);
    static_cast<std::vector<std::string>*>(argument)->push_back(stage);
  };
  const std::string output = folder_ / "int8";
  Json report;
  ASSERT_EQ(Quantize(output, 1, &report), "");
  EXPECT_FALSE(stages.empty());
  EXPECT_EQ(report["schema"], "tenon.quantization");
  EXPECT_TRUE(report["weights"].is_null());
  EXPECT_EQ(report["samples"], 32);
  ASSERT_GT(report["layers"].size(), 0);
  int int8 = 0;
  for (const Json& layer : report["layers"]) int8 += layer["kept"] == "";
  EXPECT_GT(int8, 0);
  EXPECT_GT(report["outputs"][0]["correlation"], 0.9);
  const float exact = Score(SourcePath("tests/models/mlp/saved_model"));
  EXPECT_NE(Score(output), exact);
  EXPECT_NEAR(Score(output), exact, 0.1);
  EXPECT_THAT(Quantize(output, 1), HasSubstr("exists already"));
}

TEST_F(CApiQuantize, WeightsAlone) {
  options_.weights = "int8";
  options_.keep = "nobody";
  EXPECT_THAT(Quantize(folder_ / "small.pb", 0), HasSubstr("nobody"));
  options_.keep = nullptr;
  Json report;
  ASSERT_EQ(Quantize(folder_ / "small.pb", 0, &report), "");
  EXPECT_EQ(report["weights"], "int8");
  EXPECT_LT(report["bytes_after"], report["bytes_before"]);
  EXPECT_TRUE(report["layers"][0]["error"].is_null());
  EXPECT_GT(report["layers"][0]["weight_error"], 0);
  EXPECT_NEAR(Score(folder_ / "small.pb"), Score(SourcePath("tests/models/mlp/saved_model")), 0.05);
}

TEST_F(CApiQuantize, Refuses) {
  EXPECT_THAT(Quantize(folder_ / "a.pb", 0), HasSubstr("samples are needed"));
  options_.method = "guess";
  EXPECT_THAT(Quantize(folder_ / "a.pb", 1), HasSubstr("'guess' is none of error"));
  options_.weights = "int3";
  EXPECT_THAT(Quantize(folder_ / "a.pb", 0), HasSubstr("'int3' is none of int8"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.pb"));
}

}  // namespace
}  // namespace tenon::c_api_test
