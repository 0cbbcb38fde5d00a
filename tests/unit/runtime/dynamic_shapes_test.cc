// Many image sizes through one session: what it holds stays within what its limits allow.
#include <gtest/gtest.h>

#include <algorithm>

#include "proto/model.h"
#include "runtime/session.h"
#include "tests/support/settings.h"

namespace tenon {
namespace {

constexpr int64_t kPlans = 4;
constexpr int64_t kEntries = 300;

std::unique_ptr<Session> Open(const std::string& model) {
  SessionOptions options = DefaultOptions(1);
  options.flags->plan_entries = kPlans;
  options.flags->cache_entries = kEntries;
  auto session = Session::Load(
      absl::StrCat(TENON_SOURCE_DIR, "/tests/models/", model, "/saved_model"), {}, options);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

absl::Status RunSize(Session& session, int64_t height, int64_t width) {
  const Shape shape({1, height, width, 3});
  std::vector<float> image(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 17) / 17;
  return session.Run(std::vector<Tensor>{Tensor::From<float>(shape, std::move(image))}).status();
}

class DynamicShapes : public ::testing::TestWithParam<const char*> {};

TEST_P(DynamicShapes, BytesStayWithinTheLimits) {
  const auto session = Open(GetParam());
  ASSERT_NE(session, nullptr);
  if (!session->inputs()[0].shape.CompatibleWith(Shape({1, 33, 35, 3}))) {
    GTEST_SKIP() << "the model takes one size";
  }
  constexpr int kSizes = 120;
  int64_t settled = 0, most = 0;  // in the first third, in the others
  for (int i = 0; i < kSizes; ++i) {
    // All different, none larger than the first.
    const absl::Status done = RunSize(*session, 64 - i % 12, 64 - i / 12);
    ASSERT_TRUE(done.ok()) << done;
    const SessionBytes bytes = session->bytes();
    int64_t& largest = i < kSizes / 3 ? settled : most;
    largest = std::max(largest, bytes.weights + bytes.packed + bytes.plans);
    EXPECT_LE(session->plan_stats().entries, kPlans);
    EXPECT_LE(session->kernel_stats().entries, kEntries);
    EXPECT_LE(bytes.primitives, kEntries * (128 << 10));
  }
  EXPECT_EQ(session->plan_stats().misses, kSizes);
  EXPECT_GT(most, 0);
  EXPECT_LE(most, settled + settled / 20);
}

INSTANTIATE_TEST_SUITE_P(Models, DynamicShapes,
                         ::testing::Values("mobilenetv2", "efficientnetb0", "resnet50"));

TEST(DynamicShapesTest, AShapeThatIsKeptIsPlannedOnce) {
  const auto session = Open("mobilenetv2");
  ASSERT_NE(session, nullptr);
  for (int round = 0; round < 3; ++round) {
    for (int64_t size : {40, 48, 56}) ASSERT_TRUE(RunSize(*session, size, size).ok());
  }
  EXPECT_EQ(session->plan_stats().misses, 3);
  EXPECT_EQ(session->plan_stats().hits, 6);
  const int64_t prepared = session->kernel_stats().misses;
  ASSERT_TRUE(RunSize(*session, 40, 40).ok());
  EXPECT_EQ(session->kernel_stats().misses, prepared);
}

}  // namespace
}  // namespace tenon
