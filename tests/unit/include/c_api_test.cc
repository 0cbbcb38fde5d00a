#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "include/tenon/tenon.h"
#include "tests/support/source_dir.h"
#include "tests/unit/include/c_api_support.h"

namespace {

using ::testing::HasSubstr;

const std::string kMlp = tenon::SourcePath("tests/models/mlp/saved_model");

using tenon::c_api_test::Message;

class CApi : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Message(tenon_session_create(kMlp.c_str(), nullptr, &session_)), "");
  }
  void TearDown() override { tenon_session_free(session_); }
  tenon_session* session_ = nullptr;
};

TEST_F(CApi, DescribesTheModel) {
  ASSERT_EQ(tenon_session_num_inputs(session_), 1);
  EXPECT_STREQ(tenon_session_input_name(session_, 0), "features");
  EXPECT_EQ(tenon_session_input_name(session_, 1), nullptr);
  EXPECT_EQ(tenon_session_input_dtype(session_, 0), TENON_FLOAT);
  const int64_t* dims = nullptr;
  ASSERT_EQ(tenon_session_input_shape(session_, 0, &dims), 2);
  EXPECT_EQ(dims[0], -1);
  EXPECT_EQ(dims[1], 16);
  EXPECT_STREQ(tenon_session_output_name(session_, 0), "output_0");
}

TEST_F(CApi, RunsOnTheCallersMemory) {
  float features[32];
  for (float& f : features) f = 0.5f;
  const int64_t dims[] = {2, 16};
  int released = 0;
  tenon_tensor* input = nullptr;
  ASSERT_EQ(Message(tenon_tensor_view(
                TENON_FLOAT, dims, 2, features, sizeof(features),
                [](void* count) { ++*static_cast<int*>(count); }, &released, &input)),
            "");
  tenon_tensor* output = nullptr;
  ASSERT_EQ(Message(tenon_session_run(session_, &input, 1, &output, 1)), "");
  ASSERT_EQ(tenon_tensor_rank(output), 2);
  EXPECT_EQ(tenon_tensor_dims(output)[0], 2);
  EXPECT_EQ(tenon_tensor_bytes(output), 2 * sizeof(float));
  const float* scores = static_cast<const float*>(tenon_tensor_data(output));
  EXPECT_EQ(scores[0], scores[1]);
  tenon_tensor_free(input);
  EXPECT_EQ(released, 1);
  tenon_tensor_free(output);
}

TEST_F(CApi, Errors) {
  tenon_tensor* tensor = nullptr;
  const int64_t dims[] = {2, -1};
  EXPECT_NE(Message(tenon_tensor_create(TENON_FLOAT, dims, 2, &tensor)), "");
  float value = 0;
  const int64_t one[] = {1};
  EXPECT_THAT(Message(tenon_tensor_view(TENON_FLOAT, one, 1, &value, 3, nullptr, nullptr, &tensor)),
              HasSubstr("3 bytes"));
  EXPECT_EQ(tensor, nullptr);
  tenon_tensor* output = nullptr;
  EXPECT_THAT(Message(tenon_session_run(session_, &tensor, 1, &output, 1)), HasSubstr("features"));
  EXPECT_THAT(Message(tenon_session_run(session_, nullptr, 0, &output, 2)), HasSubstr("2"));
  tenon_session* none = nullptr;
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.signature = "nope";
  tenon_status* status = tenon_session_create(kMlp.c_str(), &options, &none);
  EXPECT_EQ(tenon_status_code(status), TENON_NOT_FOUND);
  EXPECT_THAT(Message(status), HasSubstr("nope"));
  EXPECT_EQ(none, nullptr);
}

TEST(CApiTensor, Strings) {
  tenon_tensor* t = nullptr;
  const int64_t dims[] = {2};
  ASSERT_EQ(Message(tenon_tensor_create(TENON_STRING, dims, 1, &t)), "");
  EXPECT_EQ(tenon_tensor_data(t), nullptr);
  EXPECT_EQ(Message(tenon_tensor_set_string(t, 1, "a\0b", 3)), "");
  EXPECT_NE(Message(tenon_tensor_set_string(t, 2, "a", 1)), "");
  const char* data = nullptr;
  size_t size = 0;
  EXPECT_EQ(Message(tenon_tensor_get_string(t, 1, &data, &size)), "");
  EXPECT_EQ(std::string(data, size), std::string("a\0b", 3));
  tenon_tensor_free(t);
}

TEST(CApiVariables, KeepTheirValues) {
  const std::string steps = tenon::SourcePath("tests/models/steps/order/saved_model");
  tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
  options.signature = "grow";
  tenon_session* session = nullptr;
  ASSERT_EQ(Message(tenon_session_create(steps.c_str(), &options, &session)), "");
  ASSERT_EQ(tenon_session_num_variables(session), 1);
  const char* name = tenon_session_variable_name(session, 0);
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(tenon_session_variable_name(session, 1), nullptr);

  const int64_t dims[] = {3, 2};
  tenon_tensor* x = nullptr;
  ASSERT_EQ(Message(tenon_tensor_create(TENON_FLOAT, dims, 2, &x)), "");
  std::memset(tenon_tensor_data(x), 0, tenon_tensor_bytes(x));
  for (int64_t run = 1; run <= 2; ++run) {
    tenon_tensor* outputs[2] = {};
    ASSERT_EQ(Message(tenon_session_run(session, &x, 1, outputs, 2)), "");
    for (tenon_tensor* output : outputs) tenon_tensor_free(output);
    tenon_tensor* value = nullptr;
    ASSERT_EQ(Message(tenon_session_read_variable(session, name, &value)), "");
    EXPECT_EQ(tenon_tensor_dims(value)[0], 3 * run);
    tenon_tensor_free(value);
  }
  ASSERT_EQ(Message(tenon_session_assign_variable(session, name, x)), "");
  tenon_tensor* value = nullptr;
  ASSERT_EQ(Message(tenon_session_read_variable(session, name, &value)), "");
  EXPECT_EQ(tenon_tensor_dims(value)[0], 3);
  tenon_tensor_free(value);
  EXPECT_THAT(Message(tenon_session_read_variable(session, "nobody", &value)),
              HasSubstr("no variable named 'nobody'"));
  tenon_tensor_free(x);
  tenon_session_free(session);
}

}  // namespace
