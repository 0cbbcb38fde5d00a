// One prepared kernel run by several threads at once, and weights shared by several kernels.
#include <gtest/gtest.h>

#include <thread>

#include "env/flags.h"
#include "ops/op.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;

Node ConvNode() {
  Node node = MakeNode("_MklNativeFusedConv2D",
                       {{"T", DType::kFloat},
                        {"padding", "SAME"},
                        {"strides", Ints{1, 1, 1, 1}},
                        {"num_args", 1},
                        {"fused_ops", std::vector<std::string>{"BiasAdd", "Relu"}}});
  EXPECT_TRUE(CompleteAttrs(*FindOp(node.op).info, node).ok());
  return node;
}

const Shape kInput({1, 13, 11, 35}), kFilter({3, 3, 35, 37}), kBias({37});

absl::StatusOr<PreparedKernel> Prepare(Constant& filter, const Services& services) {
  const std::vector<TensorSpec> specs = {{DType::kFloat, kInput, nullptr},
                                         {DType::kFloat, kFilter, nullptr},
                                         {DType::kFloat, kBias, nullptr}};
  const std::vector<Constant*> constants = {nullptr, &filter, nullptr};
  return PrepareNode(ConvNode(), specs, constants, services);
}

TEST(Concurrency, ThreadsShareKernelsCacheAndWeights) {
  const Tensor filter_value = RandomTensor(DType::kFloat, kFilter, 2);
  const Tensor bias = RandomTensor(DType::kFloat, kBias, 3);
  Constant filter(filter_value);
  Flags flags;
  // So that the shared object is a oneDNN primitive, as are those of more than 32 channels.
  flags.winograd = false;
  PrimitiveCache cache;
  const Services services{&flags, &cache, 1};

  constexpr int kThreads = 6;
  std::vector<Tensor> inputs, wanted;
  for (int t = 0; t < kThreads; ++t) {
    inputs.push_back(RandomTensor(DType::kFloat, kInput, 10 + static_cast<uint32_t>(t)));
    Node plain = ConvNode();
    plain.op = "_FusedConv2D";
    const Tensor in[] = {inputs.back(), filter_value, bias};
    wanted.push_back((*Evaluate(plain, in, services))[0]);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      absl::StatusOr<PreparedKernel> prepared = Prepare(filter, services);
      ASSERT_TRUE(prepared.ok()) << prepared.status();
      const size_t i = static_cast<size_t>(t);
      // Implementations that read the plain filter keep no packed form of it.
      const bool packed = !prepared->unread.empty();
      const Tensor in[] = {inputs[i], packed ? Tensor() : filter_value, bias};
      for (int run = 0; run < 20; ++run) {
        absl::StatusOr<std::vector<Tensor>> out = RunKernel(*prepared, in);
        ASSERT_TRUE(out.ok()) << out.status();
        ASSERT_LT(RelativeError((*out)[0], wanted[i]), 1e-5);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  // One thread alone asks for as many primitives: one, or two where the first is not used.
  PrimitiveCache other;
  Constant other_filter(filter_value);
  ASSERT_TRUE(Prepare(other_filter, {&flags, &other, 1}).ok());
  const auto alone = other.statistics();
  EXPECT_GE(alone.misses, 1);
  EXPECT_EQ(cache.statistics().misses, alone.misses);
  EXPECT_EQ(cache.statistics().hits, kThreads * (alone.misses + alone.hits) - alone.misses);
  const absl::StatusOr<PreparedKernel> prepared = Prepare(filter, services);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  if (prepared->unread.empty()) return;
  // The plain filter can be freed and rebuilt, bit for bit, from the packed one.
  ASSERT_TRUE(filter.ReleasePlain());
  EXPECT_FALSE(filter.holds_plain());
  absl::StatusOr<Tensor> rebuilt = filter.Plain();
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_TRUE(Identical(*rebuilt, filter_value));
}

TEST(Concurrency, SameThreadsSameBits) {
  Constant filter(RandomTensor(DType::kFloat, kFilter, 2));
  const Flags flags;
  const Tensor in[] = {RandomTensor(DType::kFloat, kInput, 1), Tensor(),
                       RandomTensor(DType::kFloat, kBias, 3)};
  std::vector<Tensor> results;
  for (bool cached : {true, false, true}) {
    PrimitiveCache cache(cached ? PrimitiveCache::kDefaultLimits : CacheLimits{});
    absl::StatusOr<PreparedKernel> prepared = Prepare(filter, {&flags, &cache, 2});
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    for (int run = 0; run < 2; ++run) results.push_back((*RunKernel(*prepared, in))[0]);
  }
  for (const Tensor& t : results) EXPECT_TRUE(Identical(t, results[0]));
}

}  // namespace
}  // namespace tenon
