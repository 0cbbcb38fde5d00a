#include "runtime/eager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/runtime/test_ops.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;

std::unique_ptr<Eager> Make(bool onednn_opts) {
  SessionOptions options;
  options.flags = Flags();
  options.flags->onednn_opts = onednn_opts;
  options.flags->cache_entries = 100;
  options.flags->cache_bytes = 1 << 20;
  options.threads = 1;
  return *Eager::Create(options);
}

TEST(Eager, RunsWithTheGateOnAndOff) {
  for (bool gate : {true, false}) {
    auto eager = Make(gate);
    auto relu = eager->Execute("Relu", {Floats({3}, {-1, 0, 2})});
    ASSERT_TRUE(relu.ok()) << relu.status();
    EXPECT_THAT((*relu)[0].flat<float>(), ElementsAre(0, 0, 2));
    auto product = eager->Execute("MatMul", {Floats({1, 2}, {1, 2}), Floats({2, 1}, {3, 4})});
    ASSERT_TRUE(product.ok()) << product.status();
    EXPECT_THAT((*product)[0].flat<float>(), ElementsAre(11));
  }
}

TEST(Eager, FillsAttributesFromInputs) {
  auto eager = Make(true);
  auto joined = eager->Execute("ConcatV2",
                               {Floats({2}, {1, 2}), Floats({1}, {3}), Tensor::Scalar<int32_t>(0)});
  ASSERT_TRUE(joined.ok()) << joined.status();
  EXPECT_THAT((*joined)[0].flat<float>(), ElementsAre(1, 2, 3));
}

TEST(Eager, KernelsAreKeptByShapeAndByTheValuesTheyRead) {
  auto eager = Make(true);
  const Tensor x = Floats({2}, {1, 2});
  for (int32_t n : {1, 2, 1, 2}) {
    auto y = eager->Execute("TestRepeat", {x, Tensor::Vector<int32_t>({n})});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0].num_elements(), 2 * n);
  }
  EXPECT_EQ(eager->kernel_stats().misses, 2);
  EXPECT_EQ(eager->kernel_stats().hits, 2);
}

TEST(Eager, Errors) {
  auto eager = Make(true);
  const Tensor x = Floats({2}, {1, 2});
  EXPECT_THAT(std::string(eager->Execute("NoSuchOp", {x}).status().message()),
              HasSubstr("NoSuchOp"));
  EXPECT_FALSE(eager->Execute("_MklNativeMatMul", {x, x}).ok());
  EXPECT_FALSE(eager->Execute("MatMul", {x, x}).ok());
  EXPECT_FALSE(eager->Execute("Relu", {}).ok());
  EXPECT_FALSE(eager->Execute("Relu", {Tensor()}).ok());
}

}  // namespace
}  // namespace tenon
