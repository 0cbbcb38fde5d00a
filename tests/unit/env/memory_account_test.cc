#include "env/memory_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace tenon {
namespace {

using ::testing::HasSubstr;

TEST(MemoryAccount, NothingCountsOutsideOfAScope) {
  const auto account = std::make_shared<MemoryAccount>(100);
  const absl::StatusOr<MemoryCharge> charge = MemoryCharge::Of(1000);
  ASSERT_TRUE(charge.ok());
  EXPECT_TRUE(charge->empty());
  EXPECT_EQ(account->held(), 0);
}

TEST(MemoryAccount, RefusesWhatExceedsTheLimit) {
  const auto account = std::make_shared<MemoryAccount>(100);
  {
    const MemoryScope scope(account, MemoryUse::kWeights);
    absl::StatusOr<MemoryCharge> first = MemoryCharge::Of(60);
    ASSERT_TRUE(first.ok());
    const absl::Status refused = MemoryCharge::Of(41).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("41 bytes do not fit"));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("of 100 bytes, 60 are held (weights 60"));
    EXPECT_FALSE(MemoryCharge::Of(SIZE_MAX).ok());
    EXPECT_TRUE(MemoryCharge::Of(40).ok());
    EXPECT_EQ(account->held(), 60);
    *first = MemoryCharge();
    EXPECT_EQ(account->held(), 0);
  }
  EXPECT_EQ(account->peak(), 100);
}

TEST(MemoryAccount, MemoryCountsUntilItsLastHolderLetsGo) {
  const auto account = std::make_shared<MemoryAccount>(100);
  std::shared_ptr<const void> memory;
  {
    const MemoryScope scope(account, MemoryUse::kPacked);
    absl::StatusOr<MemoryCharge> charge = MemoryCharge::Of(10);
    memory = (*std::move(charge)).Attach(std::make_shared<int>(5));
  }
  const std::shared_ptr<const void> copy = memory;
  memory.reset();
  EXPECT_EQ(account->held(MemoryUse::kPacked), 10);
  EXPECT_EQ(*static_cast<const int*>(copy.get()), 5);
  EXPECT_EQ(copy.use_count(), 1);
}

TEST(MemoryAccount, ScopesNest) {
  const auto outer = std::make_shared<MemoryAccount>(100);
  const auto inner = std::make_shared<MemoryAccount>(100);
  const MemoryScope a(outer, MemoryUse::kRun);
  absl::StatusOr<MemoryCharge> in_none, in_inner;
  {
    const MemoryScope b(nullptr, MemoryUse::kWeights);
    in_none = MemoryCharge::Of(1);
    const MemoryScope c(inner, MemoryUse::kWeights);
    in_inner = MemoryCharge::Of(2);
  }
  const absl::StatusOr<MemoryCharge> in_outer = MemoryCharge::Of(4);
  EXPECT_EQ(outer->held(), 5);
  EXPECT_EQ(inner->held(), 2);
}

TEST(MemoryAccount, ThreadsNeverExceedTheLimit) {
  const auto account = std::make_shared<MemoryAccount>(10);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const MemoryScope scope(account, MemoryUse::kRun);
      for (int k = 0; k < 20000; ++k) {
        const absl::StatusOr<MemoryCharge> charge = MemoryCharge::Of(4);
        EXPECT_LE(account->held(), 10);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(account->held(), 0);
  EXPECT_EQ(account->held(MemoryUse::kRun), 0);
  EXPECT_LE(account->peak(), 8);
}

}  // namespace
}  // namespace tenon
