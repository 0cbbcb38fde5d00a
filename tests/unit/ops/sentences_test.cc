// What the golden cases of SentenceFragments and SentenceFragmentsV2 do not show: which input an
// error names, and what holds for any text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/ops/run_op.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<Tensor>> OfTokens(const std::vector<int64_t>& lengths,
                                             const std::vector<std::string>& tokens,
                                             std::vector<int64_t> properties,
                                             const std::string& encoding = "UTF-8") {
  const std::vector<int64_t> places(tokens.size());
  return RunOp("SentenceFragments", {{"input_encoding", encoding}},
               {Tensor::Vector(lengths), Tensor::Vector(places), Tensor::Vector(places),
                Tensor::Vector(tokens), Tensor::Vector(std::move(properties))},
               1, "split");
}

std::string ErrorOf(const absl::StatusOr<std::vector<Tensor>>& result) {
  return std::string(result.status().message());
}

TEST(Sentences, ErrorsNameTheInput) {
  EXPECT_THAT(ErrorOf(OfTokens({2, 2}, {"a", "b", "."}, {0, 0, 0})),
              AllOf(HasSubstr("split"), HasSubstr("row_lengths[1] is 2, and 1 of 3")));
  EXPECT_THAT(ErrorOf(OfTokens({3, -1}, {"a", "b", "."}, {0, 0, 0})),
              HasSubstr("row_lengths[1] is -1"));
  EXPECT_THAT(ErrorOf(OfTokens({INT64_MAX, INT64_MAX, 5}, {"a", "b", "."}, {0, 0, 0})),
              HasSubstr("row_lengths[0]"));
  EXPECT_THAT(ErrorOf(OfTokens({1, 1}, {"a", "b", "."}, {0, 0, 0})),
              HasSubstr("row_lengths add up to 2, but there are 3 tokens"));
  EXPECT_THAT(ErrorOf(OfTokens({1, 2}, {"a", "b", ""}, {0, 0, 0})),
              HasSubstr("token_word[2] is empty"));
  EXPECT_THAT(ErrorOf(OfTokens({3}, {"a", "b", "."}, {0, 0})), HasSubstr("2 elements for 3"));
  const auto utf16 = OfTokens({1}, {"a"}, {0}, "UTF-16");
  EXPECT_TRUE(absl::IsUnimplemented(utf16.status())) << utf16.status();
  EXPECT_THAT(ErrorOf(utf16), AllOf(HasSubstr("split"), HasSubstr("'UTF-16'")));
}

std::vector<std::string> RandomTexts(size_t count) {
  const std::vector<std::string> parts = {
      "a",    "B",    ".",    "...",    "?",      "!",      ")",   "(",   " ",  "\n",
      "\xE2", "\x80", "\xA6", "\u2026", "\u3002", "\u3000", ":-)", "D:<", "O.", "''"};
  std::mt19937 gen(20);
  std::vector<std::string> texts(count);
  for (std::string& text : texts) {
    for (size_t n = gen() % 20; n > 0; --n) text += parts[gen() % parts.size()];
  }
  return texts;
}

// Fragments are in order and apart, and only whitespace, or the rest of a wide space whose first
// byte was left out, is between them.
TEST(Sentences, FragmentsCoverTheText) {
  const std::vector<std::string> texts = RandomTexts(3000);
  const auto got = RunOp("SentenceFragmentsV2", {}, {Tensor::Vector(texts)});
  ASSERT_TRUE(got.ok()) << got.status();
  const auto begins = (*got)[0].flat<int64_t>(), ends = (*got)[1].flat<int64_t>();
  const auto properties = (*got)[2].flat<int64_t>(), marks = (*got)[3].flat<int64_t>();
  size_t i = 0;
  for (size_t r = 0; r < texts.size(); ++r) {
    SCOPED_TRACE(texts[r]);
    int64_t last = 0;
    const auto expect_spaces = [&](int64_t to) {
      for (int64_t k = last; k < to; ++k) {
        const char c = texts[r][static_cast<size_t>(k)];
        EXPECT_TRUE(c == ' ' || c == '\n' || c == '\xE3') << "at " << k;
      }
    };
    for (int64_t n = (*got)[4].data<int64_t>()[r]; n > 0; --n, ++i) {
      ASSERT_LE(last, begins[i]);
      ASSERT_LT(begins[i], ends[i]);
      expect_spaces(begins[i]);
      last = ends[i];
      EXPECT_EQ(marks[i] >= 0, (properties[i] & 1) != 0);
      if (marks[i] >= 0) {
        EXPECT_GE(marks[i], begins[i]);
        EXPECT_LT(marks[i], ends[i]);
      } else {
        EXPECT_EQ(ends[i], std::ssize(texts[r]));
      }
    }
    expect_spaces(std::ssize(texts[r]));
  }
  EXPECT_EQ(i, static_cast<size_t>(begins.size()));
}

TEST(Sentences, ThreadsDoNotChangeThem) {
  const Tensor texts = Tensor::Vector(RandomTexts(5000));
  const auto one = RunOp("SentenceFragmentsV2", {}, {texts}, 1);
  const auto three = RunOp("SentenceFragmentsV2", {}, {texts}, 3);
  ASSERT_TRUE(one.ok() && three.ok());
  for (size_t o = 0; o < one->size(); ++o) {
    EXPECT_THAT((*three)[o].flat<int64_t>(), ElementsAreArray((*one)[o].flat<int64_t>()));
  }
}

}  // namespace
}  // namespace tenon
