// Outputs in the caller's memory: of each kind that a plan has, the same numbers as without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "env/flags.h"
#include "graph/text.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Session> Make(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = 1;
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

// A computed tensor, under two names and reshaped; an input passed on; a constant; strings; a
// tensor whose shape depends on data.
constexpr char kGraph[] = R"(
in x = %x
in s = %s
%x = Placeholder() {dtype=float, shape=<?,4>}
%s = Placeholder() {dtype=string, shape=<?>}
%c = Const() {dtype=float, value=float<3>{1, 2, 3}}
%y = Exp(%x) {T=float}
%flat = Const() {dtype=int32, value=int32<1>{-1}}
%r = Reshape(%y, %flat) {T=float, Tshape=int32}
%turned = Const() {dtype=int32, value=int32<2>{1, 0}}
%axis = Const() {dtype=int32, value=int32<>{0}}
%u = GatherV2(%s, %turned, %axis) {Tparams=string, Tindices=int32, Taxis=int32}
%p = Greater(%x, %y) {T=float}
%w = Where(%x) {T=float}
out y = %y
out again = %y
out flat = %r
out x = %x
out c = %c
out u = %u
out w = %w
)";

std::vector<Tensor> Feeds() {
  return {Tensor::From<float>(Shape({2, 4}), {0, 1, 2, 0, -1, 3, 0, 0.5f}),
          Tensor::Vector<std::string>({"a", "bc"})};
}

TEST(CallersOutputs, EveryKindOfOutput) {
  const std::unique_ptr<Session> session = Make(kGraph);
  const std::vector<Tensor> feeds = Feeds();
  const auto wanted = session->Run(feeds);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  std::vector<Tensor> into;
  for (const Tensor& t : *wanted) into.push_back(*Tensor::Allocate(t.dtype(), t.shape()));
  for (int run = 0; run < 3; ++run) {
    for (Tensor& t : into) {
      if (t.dtype() != DType::kString) std::memset(t.raw(), 0x55, t.bytes());
    }
    const auto got = session->Run(feeds, {.into = into});
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < into.size(); ++i) {
      EXPECT_TRUE(Identical(into[i], (*wanted)[i])) << session->outputs()[i].name;
      EXPECT_TRUE((*got)[i].SharesBufferWith(into[i])) << session->outputs()[i].name;
    }
  }
  // Only some of them; the others are new.
  std::vector<Tensor> some(into.size());
  some[1] = into[1];
  const auto got = session->Run(feeds, {.into = some});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE((*got)[1].SharesBufferWith(into[1]));
  EXPECT_FALSE((*got)[0].SharesBufferWith(into[1]));
  for (size_t i = 0; i < got->size(); ++i) EXPECT_TRUE(Identical((*got)[i], (*wanted)[i]));
}

TEST(CallersOutputs, Errors) {
  const std::unique_ptr<Session> session = Make(kGraph);
  const std::vector<Tensor> feeds = Feeds();
  const auto error = [&](size_t output, Tensor given, Tensor other = Tensor()) {
    std::vector<Tensor> into(2);
    into.resize(7);
    into[output] = std::move(given);
    if (other.valid()) into[0] = std::move(other);
    return std::string(session->Run(feeds, {.into = into}).status().message());
  };
  EXPECT_THAT(error(6, *Tensor::Allocate(DType::kInt64, Shape({9, 2}))),
              HasSubstr("output 'w' is int64 of shape [5,2]"));
  EXPECT_THAT(error(5, *Tensor::Allocate(DType::kFloat, Shape({2}))),
              HasSubstr("output 'u' is string"));
  Tensor shared = *Tensor::Allocate(DType::kFloat, Shape({2, 4}));
  EXPECT_THAT(error(1, shared, shared), HasSubstr("'y' and 'again' share memory"));
  const std::vector<Tensor> many(8);
  EXPECT_THAT(std::string(session->Run(feeds, {.into = many}).status().message()),
              HasSubstr("the model has 7"));
}

TEST(CallersOutputs, OfALargeBatch) {
  // As in batch_split_test: its tensors do not fit the caches, so it runs in parts.
  const std::unique_ptr<Session> session = Make(R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?,64,64,64>}
%a = Exp(%x) {T=float}
%b = Tanh(%a) {T=float}
%y = Relu(%b) {T=float}
out y = %y
)");
  const Shape shape({64, 64, 64, 64});
  Tensor x = *Tensor::Allocate(DType::kFloat, shape), y = *Tensor::Allocate(DType::kFloat, shape);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.data<float>()[i] = static_cast<float>(i % 1000) / 500 - 1;
  }
  const auto wanted = session->Run({x});
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  const std::vector<Tensor> into = {y};
  const auto got = session->Run({x}, {.into = into});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE((*got)[0].SharesBufferWith(y));
  EXPECT_TRUE(Identical(y, (*wanted)[0]));
}

}  // namespace
}  // namespace tenon
