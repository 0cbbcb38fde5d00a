// Runs by name, into the caller's memory, until a deadline or until they are cancelled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "include/tenon/tenon.h"
#include "tests/support/source_dir.h"
#include "tests/unit/include/c_api_support.h"

namespace tenon::c_api_test {
namespace {

using ::testing::HasSubstr;

class CApiRun : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = SourcePath("tests/models/mlp/saved_model");
    ASSERT_EQ(Message(tenon_session_create(path.c_str(), nullptr, &session_)), "");
    input_ = FloatTensor({2, 16}, std::vector<float>(32, 0.5f));
    ASSERT_EQ(Message(tenon_session_run(session_, &input_, 1, &expected_, 1)), "");
  }
  void TearDown() override {
    tenon_tensor_free(expected_);
    tenon_tensor_free(input_);
    tenon_session_free(session_);
  }
  std::string RunInto(tenon_tensor* output, const tenon_run_options* options = nullptr) {
    const char* const inputs[] = {"features"};
    const char* const outputs[] = {"output_0"};
    return Message(
        tenon_session_run_with(session_, options, inputs, &input_, 1, outputs, &output, 1));
  }
  void ExpectEqual(const void* elements) {
    EXPECT_EQ(std::memcmp(elements, tenon_tensor_data(expected_), 2 * sizeof(float)), 0);
  }
  tenon_session* session_ = nullptr;
  tenon_tensor* input_ = nullptr;
  tenon_tensor* expected_ = nullptr;
};

TEST_F(CApiRun, IntoTheCallersMemory) {
  const int64_t dims[] = {2, 1};
  // Aligned, so that steps write to it; one float later, so that the result is copied.
  alignas(64) float memory[8];
  for (const int offset : {0, 1}) {
    std::fill(std::begin(memory), std::end(memory), -7.0f);
    tenon_tensor* output = nullptr;
    ASSERT_EQ(Message(tenon_tensor_view(TENON_FLOAT, dims, 2, memory + offset, 2 * sizeof(float),
                                        nullptr, nullptr, &output)),
              "");
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(RunInto(output), "");
      ExpectEqual(memory + offset);
    }
    EXPECT_EQ(memory[offset + 2], -7.0f);
    tenon_tensor_free(output);
  }
}

TEST_F(CApiRun, OverTheInput) {
  // The output's memory is a part of the input's.
  const int64_t dims[] = {2, 1};
  tenon_tensor* output = nullptr;
  ASSERT_EQ(Message(tenon_tensor_view(TENON_FLOAT, dims, 2, tenon_tensor_data(input_),
                                      2 * sizeof(float), nullptr, nullptr, &output)),
            "");
  EXPECT_EQ(RunInto(output), "");
  ExpectEqual(tenon_tensor_data(input_));
  tenon_tensor_free(output);
}

TEST_F(CApiRun, WrongOutputTensors) {
  const auto refused = [&](tenon_dtype dtype, std::vector<int64_t> dims) {
    tenon_tensor* output = nullptr;
    EXPECT_EQ(
        Message(tenon_tensor_create(dtype, dims.data(), static_cast<int>(dims.size()), &output)),
        "");
    const std::string message = RunInto(output);
    tenon_tensor_free(output);
    return message;
  };
  EXPECT_THAT(refused(TENON_DOUBLE, {2, 1}), HasSubstr("'output_0' is float"));
  EXPECT_THAT(refused(TENON_FLOAT, {2, 2}), HasSubstr("'output_0' is float of shape [2,1]"));
  EXPECT_THAT(refused(TENON_FLOAT, {2}), HasSubstr("of shape [2]"));
}

TEST_F(CApiRun, WrongNames) {
  tenon_tensor* output = nullptr;
  const char* input = "features";
  const char* const none[] = {"nobody"};
  EXPECT_THAT(
      Message(tenon_session_run_with(session_, nullptr, none, &input_, 1, nullptr, &output, 1)),
      HasSubstr("no input 'nobody'; it takes 'features'"));
  EXPECT_THAT(
      Message(tenon_session_run_with(session_, nullptr, &input, &input_, 1, none, &output, 1)),
      HasSubstr("no output 'nobody'; it gives 'output_0'"));
  const char* const twice[] = {"output_0", "output_0"};
  tenon_tensor* outputs[2] = {};
  EXPECT_THAT(
      Message(tenon_session_run_with(session_, nullptr, &input, &input_, 1, twice, outputs, 2)),
      HasSubstr("asked for twice"));
  EXPECT_EQ(output, nullptr);
  EXPECT_EQ(outputs[0], nullptr);
}

TEST_F(CApiRun, DeadlineAndCancelBeforeTheRun) {
  tenon_run_options options = TENON_RUN_OPTIONS_INIT;
  tenon_tensor* output = nullptr;
  options.timeout_ns = -1;
  tenon_status* status =
      tenon_session_run_with(session_, &options, nullptr, &input_, 1, nullptr, &output, 1);
  EXPECT_EQ(tenon_status_code(status), TENON_DEADLINE_EXCEEDED);
  tenon_status_free(status);
  options.timeout_ns = int64_t{60} * 1000 * 1000 * 1000;
  tenon_cancel* cancel = tenon_cancel_create();
  options.cancel = cancel;
  EXPECT_EQ(
      Message(tenon_session_run_with(session_, &options, nullptr, &input_, 1, nullptr, &output, 1)),
      "");
  tenon_tensor_free(output);
  output = nullptr;
  tenon_cancel_request(cancel);
  EXPECT_EQ(tenon_cancel_requested(cancel), 1);
  status = tenon_session_run_with(session_, &options, nullptr, &input_, 1, nullptr, &output, 1);
  EXPECT_EQ(tenon_status_code(status), TENON_CANCELLED);
  tenon_status_free(status);
  EXPECT_EQ(output, nullptr);
  tenon_cancel_free(cancel);
}

TEST_F(CApiRun, StructsOfOtherSizes) {
  struct Longer {
    tenon_run_options options = TENON_RUN_OPTIONS_INIT;
    int64_t unknown = 0;
  } longer;
  longer.options.size = sizeof(Longer);
  tenon_tensor* output = nullptr;
  const auto run = [&](const tenon_run_options* options) {
    const std::string message = Message(
        tenon_session_run_with(session_, options, nullptr, &input_, 1, nullptr, &output, 1));
    tenon_tensor_free(output);
    output = nullptr;
    return message;
  };
  EXPECT_EQ(run(&longer.options), "");
  longer.unknown = 1;
  EXPECT_THAT(run(&longer.options), HasSubstr("this version of Tenon"));
  longer.options.size = 0;
  EXPECT_THAT(run(&longer.options), HasSubstr("without its size"));
  longer.options.size = sizeof(size_t);  // a caller that knows no field
  EXPECT_EQ(run(&longer.options), "");
}

TEST(CApiOptions, Precision) {
  const std::string path = SourcePath("tests/models/mlp/saved_model");
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  tenon_session* session = nullptr;
  options.precision = "bf16";
  EXPECT_EQ(Message(tenon_session_create(path.c_str(), &options, &session)), "");
  tenon_session_free(session);
  options.precision = "fp8";
  EXPECT_THAT(Message(tenon_session_create(path.c_str(), &options, &session)), HasSubstr("'fp8'"));
}

}  // namespace
}  // namespace tenon::c_api_test
