// Generation through the C interface; tests/consumer has the C++ one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "include/tenon/tenon.h"
#include "tests/support/source_dir.h"

namespace {

using ::testing::HasSubstr;

// "The mill", and what TensorFlow continues it with (tests/models/generate/expected.json).
const std::vector<int64_t> kPrompt = {84, 104, 101, 32, 109, 105, 108, 108};
const std::vector<int64_t> kTokens = {164, 154, 36, 131, 248, 231};

std::string Message(tenon_status* status) {
  const std::string message = tenon_status_message(status);
  tenon_status_free(status);
  return message;
}

struct Session {
  explicit Session(const std::string& model) {
    const std::string path = tenon::SourcePath("tests/models/" + model);
    EXPECT_EQ(Message(tenon_session_create(path.c_str(), nullptr, &session)), "");
  }
  ~Session() {
    tenon_generator_free(generator);
    tenon_session_free(session);
  }
  std::string Generate(const tenon_generator_options* options = nullptr) {
    return Message(tenon_generator_create(session, options, &generator));
  }
  std::string Prompt(size_t from, size_t to) {
    return Message(tenon_generator_prompt(generator, kPrompt.data() + from, to - from));
  }
  std::vector<int64_t> Take() {
    std::vector<int64_t> tokens(kTokens.size());
    for (int64_t& token : tokens) EXPECT_EQ(Message(tenon_generator_next(generator, &token)), "");
    return tokens;
  }

  tenon_session* session = nullptr;
  tenon_generator* generator = nullptr;
};

TEST(CApiGenerate, GivesTokensOneByOne) {
  for (const char* model : {"generate/variables", "generate/feedback"}) {
    SCOPED_TRACE(model);
    Session session(model);
    ASSERT_EQ(session.Generate(), "");
    ASSERT_EQ(session.Prompt(0, kPrompt.size()), "");
    EXPECT_EQ(session.Take(), kTokens);
    EXPECT_EQ(Message(tenon_generator_reset(session.generator)), "");
    // A prompt in two parts is the same prompt.
    ASSERT_EQ(session.Prompt(0, 3), "");
    ASSERT_EQ(session.Prompt(3, kPrompt.size()), "");
    EXPECT_EQ(session.Take(), kTokens);
  }
}

TEST(CApiGenerate, TakesTheFirstValueOfTheCache) {
  Session session("generate/feedback");
  ASSERT_EQ(session.Generate(), "");
  const int64_t dims[] = {1, 0, 2, 12};
  tenon_tensor* cache = nullptr;
  ASSERT_EQ(Message(tenon_tensor_create(TENON_FLOAT, dims, 4, &cache)), "");
  EXPECT_EQ(Message(tenon_generator_set_input(session.generator, "cache", cache)), "");
  EXPECT_THAT(Message(tenon_generator_set_input(session.generator, "store", cache)),
              HasSubstr("no input 'store'"));
  tenon_tensor_free(cache);
  ASSERT_EQ(session.Prompt(0, kPrompt.size()), "");
  EXPECT_EQ(session.Take(), kTokens);
}

TEST(CApiGenerate, RefusesWhatIsMissing) {
  Session session("generate/variables");
  EXPECT_EQ(Message(tenon_generator_create(nullptr, nullptr, &session.generator)), "null argument");
  tenon_generator_options options = TENON_GENERATOR_OPTIONS_INIT;
  options.size = 3;
  EXPECT_EQ(session.Generate(&options), "a struct without its size");
  options = TENON_GENERATOR_OPTIONS_INIT;
  options.top_p = 2;
  EXPECT_THAT(session.Generate(&options), HasSubstr("top-p"));
  ASSERT_EQ(session.Generate(), "");
  int64_t token = 0;
  tenon_status* status = tenon_generator_next(session.generator, &token);
  EXPECT_EQ(tenon_status_code(status), TENON_FAILED_PRECONDITION);
  tenon_status_free(status);
  EXPECT_EQ(Message(tenon_generator_prompt(session.generator, nullptr, 1)), "null argument");
  Session mlp("mlp/saved_model");
  EXPECT_THAT(mlp.Generate(), HasSubstr("which input takes the tokens is not clear"));
}

TEST(CApiGenerate, EndsAtItsDeadlineAndWhenCancelled) {
  Session session("generate/feedback");
  ASSERT_EQ(session.Generate(), "");
  tenon_run_options limits = TENON_RUN_OPTIONS_INIT;
  limits.timeout_ns = -1;
  ASSERT_EQ(Message(tenon_generator_set_limits(session.generator, &limits)), "");
  tenon_status* status = tenon_generator_prompt(session.generator, kPrompt.data(), kPrompt.size());
  EXPECT_EQ(tenon_status_code(status), TENON_DEADLINE_EXCEEDED);
  tenon_status_free(status);

  limits.timeout_ns = 0;
  tenon_cancel* cancel = tenon_cancel_create();
  limits.cancel = cancel;
  ASSERT_EQ(Message(tenon_generator_set_limits(session.generator, &limits)), "");
  ASSERT_EQ(session.Prompt(0, kPrompt.size()), "");
  int64_t token = 0;
  EXPECT_EQ(Message(tenon_generator_next(session.generator, &token)), "");
  tenon_cancel_request(cancel);
  status = tenon_generator_next(session.generator, &token);
  EXPECT_EQ(tenon_status_code(status), TENON_CANCELLED);
  tenon_status_free(status);

  // Nothing was lost: the same text goes on.
  ASSERT_EQ(Message(tenon_generator_set_limits(session.generator, nullptr)), "");
  tenon_cancel_free(cancel);
  for (size_t i = 1; i < kTokens.size(); ++i) {
    ASSERT_EQ(Message(tenon_generator_next(session.generator, &token)), "");
    EXPECT_EQ(token, kTokens[i]);
  }
  tenon_profile* profile = tenon_profile_create();
  limits = TENON_RUN_OPTIONS_INIT;
  limits.profile = profile;
  EXPECT_THAT(Message(tenon_generator_set_limits(session.generator, &limits)),
              HasSubstr("no profile"));
  tenon_profile_free(profile);
}

}  // namespace
