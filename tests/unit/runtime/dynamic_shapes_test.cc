// Many image sizes through one session: its memory stays within the limits.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/match.h"
#include "primitive_cache/isa.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

constexpr int64_t kPlans = 4;
constexpr int64_t kEntries = 300;

std::unique_ptr<Session> Open(const std::string& model) {
  SessionOptions options = DefaultOptions(1);
  options.flags->plan_entries = kPlans;
  options.flags->cache_entries = kEntries;
  auto session =
      Session::Load(SourcePath(absl::StrCat("tests/models/", model, "/saved_model")), {}, options);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

Tensor Image(int64_t height, int64_t width) {
  const Shape shape({1, height, width, 3});
  std::vector<float> image(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 17) / 17;
  return Tensor::From<float>(shape, std::move(image));
}

absl::Status RunSize(Session& session, int64_t height, int64_t width) {
  return session.Run(std::vector<Tensor>{Image(height, width)}).status();
}

class DynamicShapes : public ::testing::TestWithParam<const char*> {};

TEST_P(DynamicShapes, BytesStayWithinTheLimits) {
  const auto session = Open(GetParam());
  ASSERT_NE(session, nullptr);
  if (!session->inputs()[0].shape.CompatibleWith(Shape({1, 33, 35, 3}))) {
    GTEST_SKIP() << "the model takes one size";
  }
  constexpr int kSizes = 120;
  // In the first third, and in the rest.
  int64_t settled = 0, most = 0, settled_packed = 0, most_packed = 0;
  for (int i = 0; i < kSizes; ++i) {
    // All different, none larger than the first.
    const absl::Status done = RunSize(*session, 64 - i % 12, 64 - i / 12);
    ASSERT_TRUE(done.ok()) << done;
    const SessionBytes bytes = session->bytes();
    const bool first = i < kSizes / 3;
    int64_t& largest = first ? settled : most;
    largest = std::max(largest, bytes.weights + bytes.plans);
    int64_t& largest_packed = first ? settled_packed : most_packed;
    largest_packed = std::max(largest_packed, bytes.packed);
    EXPECT_LE(session->plan_stats().entries, kPlans);
    EXPECT_LE(session->kernel_stats().entries, kEntries);
    EXPECT_LE(bytes.primitives, kEntries * (128 << 10));
  }
  EXPECT_EQ(session->plan_stats().misses, kSizes);
  EXPECT_GT(most, 0);
  EXPECT_LE(most, settled + settled / 20);
  // oneDNN 3 chooses one of a few layouts by the image's size.
  const int layouts = absl::StartsWith(OnednnIdentity(), "onednn 3.") ? 2 : 1;
  EXPECT_LE(most_packed, layouts * settled_packed + settled_packed / 20);
}

INSTANTIATE_TEST_SUITE_P(Models, DynamicShapes,
                         ::testing::Values("mobilenetv2", "efficientnetb0", "resnet50"));

int64_t ResidentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Images of megabytes, every plan kept: arenas are shared, and the process's resident memory
// matches the session's counters.
TEST(DynamicShapesTest, ResidentMemoryFollowsTheCounters) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
  SessionOptions options = DefaultOptions(1);
  auto session = Session::Load(SourcePath("tests/models/mobilenetv2/saved_model"), {}, options);
  ASSERT_TRUE(session.ok()) << session.status();
  // One block for all images, so that malloc's treatment of the caller's memory does not matter.
  const Tensor pixels = Image(512, 512);
  auto image = [&](int64_t width) {
    return std::vector<Tensor>{Tensor::FromExternal(DType::kFloat, Shape({1, 512, width, 3}),
                                                    const_cast<void*>(pixels.raw()), nullptr)};
  };
  auto run = [&](int64_t width) { return (*session)->Run(image(width)).status(); };
  ASSERT_TRUE(run(512).ok());
  const auto plan = (*session)->PlanFor(image(512));
  ASSERT_TRUE(plan.ok());
  const int64_t arena = static_cast<int64_t>((*plan)->stats().arena_bytes);
  ASSERT_GT(arena, 2 << 20) << "too small for this test to tell anything";
  constexpr int kSizes = 24;
  int64_t counted = 0, resident = 0;
  for (int i = 0; i < kSizes; ++i) {
    ASSERT_TRUE(run(511 - i).ok());
    if (i == 3) {
      counted = (*session)->bytes().total();
      resident = ResidentBytes();
    }
  }
  const SessionBytes bytes = (*session)->bytes();
  EXPECT_EQ((*session)->plan_stats().entries, kSizes + 1);
  EXPECT_LT(bytes.plans, 2 * arena + kSizes * (128 << 10));
  EXPECT_LT(ResidentBytes() - resident, bytes.total() - counted + 2 * arena);
}

// A large image leaves no large arena behind once its plan is evicted.
TEST(DynamicShapesTest, TheArenaGoesWithTheLargestPlan) {
  const auto session = Open("mobilenetv2");
  ASSERT_NE(session, nullptr);
  ASSERT_TRUE(RunSize(*session, 512, 512).ok());
  const int64_t large = session->bytes().plans;
  for (int64_t i = 0; i < kPlans; ++i) ASSERT_TRUE(RunSize(*session, 64, 64 + i).ok());
  EXPECT_LT(session->bytes().plans, large / 4);
}

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
