// Sampling, and generation by steps; models of both kinds of cache are in the tests of the CLI.
#include "runtime/generate/generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "graph/text.h"
#include "runtime/generate/token_inputs.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();

// How often each token is chosen in `draws` draws.
std::map<int64_t, int> Draw(const SamplingOptions& options, std::vector<float> logits, int draws) {
  Sampler sampler(options);
  std::map<int64_t, int> counts;
  for (int i = 0; i < draws; ++i) {
    const auto token = sampler.Sample(logits);
    EXPECT_TRUE(token.ok()) << token.status();
    if (token.ok()) ++counts[*token];
  }
  return counts;
}

TEST(Sampler, TakesTheFirstOfTheLargest) {
  Sampler sampler({});
  EXPECT_EQ(*sampler.Sample({1, 3, 3, 2}), 1);
  EXPECT_EQ(*sampler.Sample({std::nanf(""), -kInf, -5, -6}), 2);
  EXPECT_EQ(*sampler.Sample({0, kInf}), 1);
  EXPECT_FALSE(sampler.Sample({}).ok());
  EXPECT_FALSE(sampler.Sample({std::nanf(""), -kInf}).ok());
}

TEST(Sampler, DrawsByProbability) {
  // Probabilities 1/8, 1/8, 1/4, 1/2; 4 standard deviations are below 160 of 8,000.
  const std::vector<float> logits = {0, 0, std::log(2.f), std::log(4.f)};
  auto counts = Draw({.temperature = 1, .seed = 7}, logits, 8000);
  EXPECT_NEAR(counts[0], 1000, 160);
  EXPECT_NEAR(counts[1], 1000, 160);
  EXPECT_NEAR(counts[2], 2000, 180);
  EXPECT_NEAR(counts[3], 4000, 180);
  // Temperature 0.5 squares them: 1, 1, 4, 16 of 22.
  counts = Draw({.temperature = 0.5, .seed = 7}, logits, 8000);
  EXPECT_NEAR(counts[3], 8000 * 16 / 22, 180);
}

TEST(Sampler, TopKAndTopPLeaveTheLikeliest) {
  const std::vector<float> logits = {0, 0, std::log(2.f), -kInf, std::log(4.f)};
  EXPECT_EQ(Draw({.temperature = 1, .top_k = 1}, logits, 50).size(), 1u);
  auto counts = Draw({.temperature = 1, .top_k = 2, .seed = 3}, logits, 3000);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts[4], 2000, 110);
  // Equal logits: the first ones are kept.
  counts = Draw({.temperature = 1, .top_k = 3}, logits, 200);
  EXPECT_EQ(counts.count(1), 0u);
  EXPECT_EQ(counts.size(), 3u);
  EXPECT_EQ(Draw({.temperature = 1, .top_p = 0.5}, logits, 200).size(), 1u);
  EXPECT_EQ(Draw({.temperature = 1, .top_p = 0.6}, logits, 200).size(), 2u);
  EXPECT_EQ(Draw({.temperature = 1, .top_p = 1}, logits, 2000).size(), 4u);
}

TEST(Sampler, RepeatsWithItsSeed) {
  const std::vector<float> logits(100, 0.f);
  Sampler a({.temperature = 1, .seed = 1}), b({.temperature = 1, .seed = 2});
  std::vector<int64_t> first, other, again;
  for (int i = 0; i < 20; ++i) first.push_back(*a.Sample(logits));
  for (int i = 0; i < 20; ++i) other.push_back(*b.Sample(logits));
  a.Reset();
  for (int i = 0; i < 20; ++i) again.push_back(*a.Sample(logits));
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST(Sampler, RefusesOptionsOutOfRange) {
  EXPECT_TRUE(CheckSampling({}).ok());
  EXPECT_FALSE(CheckSampling({.temperature = -1}).ok());
  EXPECT_FALSE(CheckSampling({.temperature = std::nan("")}).ok());
  EXPECT_FALSE(CheckSampling({.top_k = -1}).ok());
  EXPECT_FALSE(CheckSampling({.top_p = 0}).ok());
  EXPECT_FALSE(CheckSampling({.top_p = 1.5}).ok());
}

std::unique_ptr<Session> Make(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = 1;
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

// The likeliest token is the sum of all tokens so far, and the position of the last input, modulo
// 8; `cache` carries the sum.
constexpr char kSum[] = R"(
in tokens = %tokens
in cache = %cache
in position = %position
%tokens = Placeholder() {dtype=int64, shape=<1,?>}
%cache = Placeholder() {dtype=int64, shape=<>}
%position = Placeholder() {dtype=int64, shape=<>}
%axes = Const() {dtype=int32, value=int32<2>{0, 1}}
%now = Sum(%tokens, %axes) {T=int64, Tidx=int32, keep_dims=false}
%sum = AddV2(%now, %cache) {T=int64}
%all = AddV2(%sum, %position) {T=int64}
%eight = Const() {dtype=int64, value=int64<>{8}}
%best = FloorMod(%all, %eight) {T=int64}
%on = Const() {dtype=float, value=float<>{1}}
%off = Const() {dtype=float, value=float<>{0}}
%depth = Const() {dtype=int32, value=int32<>{8}}
%logits = OneHot(%best, %depth, %on, %off) {T=float, TI=int64, axis=-1}
out cache = %sum
out logits = %logits
)";

std::vector<int64_t> Take(Generator& generator, int count) {
  std::vector<int64_t> tokens;
  for (int i = 0; i < count; ++i) {
    const auto token = generator.Next();
    EXPECT_TRUE(token.ok()) << token.status();
    if (token.ok()) tokens.push_back(*token);
  }
  return tokens;
}

TEST(Generator, FeedsTokensPositionsAndTheCache) {
  auto session = Make(kSum);
  auto made = Generator::Create(session.get(), {});
  ASSERT_TRUE(made.ok()) << made.status();
  Generator& generator = **made;
  EXPECT_EQ(generator.Next().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(generator.Prompt({}).ok());
  ASSERT_TRUE(generator.Prompt({1, 2}).ok());
  // 3 + 0; then 6 + 2, 6 + 3, 7 + 4, 10 + 5 modulo 8: sums of what was chosen before.
  EXPECT_THAT(Take(generator, 4), ElementsAre(3, 0, 1, 3));
  EXPECT_EQ(generator.length(), 6);
  // The last chosen token is computed with the next prompt: at position 5, sum 10 + 4.
  ASSERT_TRUE(generator.Prompt({4}).ok());
  EXPECT_THAT(Take(generator, 1), ElementsAre((1 + 2 + 3 + 0 + 1 + 3 + 4 + 5) % 8));
  ASSERT_TRUE(generator.Reset().ok());
  EXPECT_EQ(generator.length(), 0);
  EXPECT_THAT(std::string(generator.SetInput("cache", Tensor::Scalar<int32_t>(5)).message()),
              HasSubstr("input 'cache' must be int64"));
  ASSERT_TRUE(generator.SetInput("cache", Tensor::Scalar<int64_t>(5)).ok());
  ASSERT_TRUE(generator.Prompt({1, 2}).ok());
  EXPECT_THAT(Take(generator, 1), ElementsAre(0));
}

// The likeliest token is the sum of the mask, and of none of the tokens.
constexpr char kMasked[] = R"(
in tokens = %tokens
in $ = %mask
%tokens = Placeholder() {dtype=int32, shape=<1,?>}
%mask = Placeholder() {dtype=int32, shape=<1,?>}
%axes = Const() {dtype=int32, value=int32<2>{0, 1}}
%zero = Const() {dtype=int32, value=int32<>{0}}
%none = Mul(%tokens, %zero) {T=int32}
%nothing = Sum(%none, %axes) {T=int32, Tidx=int32, keep_dims=false}
%count = Sum(%mask, %axes) {T=int32, Tidx=int32, keep_dims=false}
%best = AddV2(%count, %nothing) {T=int32}
%on = Const() {dtype=float, value=float<>{1}}
%off = Const() {dtype=float, value=float<>{0}}
%depth = Const() {dtype=int32, value=int32<>{8}}
%logits = OneHot(%best, %depth, %on, %off) {T=float, TI=int32, axis=-1}
out logits = %logits
)";

TEST(Generator, MasksHaveSeveralNames) {
  for (const char* name : {"attention_mask", "padding_mask", "input_mask"}) {
    std::string text = kMasked;
    text.replace(text.find('$'), 1, name);
    auto session = Make(text);
    auto made = Generator::Create(session.get(), {});
    ASSERT_TRUE(made.ok()) << made.status();
    ASSERT_TRUE((*made)->Prompt({5, 6}).ok()) << name;
    EXPECT_THAT(Take(**made, 3), ElementsAre(2, 3, 4)) << name;
  }
}

TEST(Generator, MakesTokensAsAnInputTakesThem) {
  const auto error = [](DType dtype, const Shape& shape, std::vector<int64_t> tokens) {
    return std::string(TokenTensor({"ids", dtype, shape}, tokens).status().message());
  };
  EXPECT_EQ(TokenTensor({"ids", DType::kInt32, Shape({-1})}, {7, 8})->shape(), Shape({2}));
  EXPECT_EQ(TokenTensor({"ids", DType::kInt64, Shape({1, -1})}, {7, 8})->shape(), Shape({1, 2}));
  EXPECT_EQ(TokenTensor({"ids", DType::kInt64, Shape()}, {7})->shape(), Shape());
  EXPECT_THAT(error(DType::kInt64, Shape(), {7, 8}), HasSubstr("takes one token"));
  EXPECT_THAT(error(DType::kString, Shape({-1}), {7}), HasSubstr("int32 or int64"));
  EXPECT_THAT(error(DType::kInt32, Shape({-1}), {int64_t{1} << 40}), HasSubstr("does not fit"));
}

TEST(Generator, SaysWhatASignatureLacks) {
  auto session = Make(kSum);
  const auto error = [&](const GeneratorOptions& options) {
    return std::string(Generator::Create(session.get(), options).status().message());
  };
  EXPECT_THAT(error({.tokens = "words"}),
              HasSubstr("no input 'words'; it takes tokens (int64 [1,?]), cache"));
  EXPECT_THAT(error({.logits = "scores"}), HasSubstr("no output 'scores'; it gives"));
  EXPECT_THAT(error({.logits = "cache"}), HasSubstr("logits are float"));
  auto generator = Generator::Create(session.get(), {});
  ASSERT_TRUE(generator.ok());
  EXPECT_THAT(std::string((*generator)->SetInput("tokens", Tensor()).message()),
              HasSubstr("is set by the generator"));
}

}  // namespace
}  // namespace tenon
