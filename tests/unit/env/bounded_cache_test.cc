#include "env/bounded_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "env/status.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

struct Blob {
  int value = 0;
  size_t size = 1;
  size_t bytes() const { return size; }
};
using Made = absl::StatusOr<std::shared_ptr<const Blob>>;
using Cache = BoundedCache<int, Blob>;

struct ByNumber {
  static constexpr bool kByValue = false;
  size_t Hash() const { return static_cast<size_t>(number % 3); }  // with clashes
  bool Asks(int key) const { return key == number; }
  int MakeKey() const { return number; }
  int number;
};

// Values of one key differ in their last digit.
struct ByDigit {
  static constexpr bool kByValue = true;
  size_t Hash() const { return 1; }
  bool Asks(int key) const { return key == number / 10; }
  int MakeKey() const { return number / 10; }
  Fit FitOf(const Blob& blob) const {
    if (blob.value == number) return Fit::kYes;
    return blob.value % 10 == stale ? Fit::kStale : Fit::kNo;
  }
  int number;
  int stale = -1;
};

class CacheTest : public ::testing::Test {
 protected:
  // The value, and whether it was built.
  template <typename Query = ByNumber>
  std::pair<int, bool> Get(Cache& cache, Query query, size_t size = 1) {
    bool built = false;
    const Made made = cache.GetOrBuild(query, [&]() -> Made {
      built = true;
      return std::make_shared<const Blob>(Blob{query.number, size});
    });
    EXPECT_TRUE(made.ok()) << made.status();
    return {made.ok() ? (*made)->value : -1, built};
  }
  bool Built(Cache& cache, int number, size_t size = 1) {
    const auto [value, built] = Get(cache, ByNumber{number}, size);
    EXPECT_EQ(value, number);
    return built;
  }
  static std::vector<int> Kept(const Cache& cache) {  // last used first
    std::vector<int> values;
    cache.ForEach([&](const Blob& blob) { values.push_back(blob.value); });
    return values;
  }
};

TEST_F(CacheTest, BuildsOnce) {
  Cache cache({.entries = 10, .bytes = 100});
  for (int n : {1, 4, 7}) EXPECT_TRUE(Built(cache, n, 5));
  EXPECT_FALSE(Built(cache, 1, 5));
  const CacheStats stats = cache.stats();
  EXPECT_EQ(stats.misses, 3);
  EXPECT_EQ(stats.hits, 1);
  EXPECT_EQ(stats.entries, 3);
  EXPECT_EQ(stats.bytes, 15);
  EXPECT_EQ(stats.evictions, 0);
}

TEST_F(CacheTest, WhatWasUsedLongestAgoLeaves) {
  Cache cache({.entries = 3, .bytes = 100});
  for (int n : {1, 2, 3, 1, 2, 4}) Built(cache, n);
  EXPECT_THAT(Kept(cache), ElementsAre(4, 2, 1));
  EXPECT_TRUE(Built(cache, 3));
  EXPECT_THAT(Kept(cache), ElementsAre(3, 4, 2));
  EXPECT_EQ(cache.stats().evictions, 2);
  EXPECT_EQ(cache.stats().entries, 3);
}

TEST_F(CacheTest, BoundedByBytes) {
  Cache cache({.entries = 100, .bytes = 10});
  for (int n : {1, 2, 3}) Built(cache, n, 4);
  EXPECT_THAT(Kept(cache), ElementsAre(3, 2));
  EXPECT_EQ(cache.stats().bytes, 8);
  Built(cache, 4, 11);  // larger than all: serves its caller, and throws nothing out
  EXPECT_THAT(Kept(cache), ElementsAre(3, 2));
  EXPECT_EQ(cache.stats().bytes, 8);
  Built(cache, 5, 10);
  EXPECT_THAT(Kept(cache), ElementsAre(5));
}

TEST_F(CacheTest, OneStaysHoweverLarge) {
  Cache cache({.entries = 100, .bytes = 10, .keep_one = true});
  Built(cache, 1, 4);
  EXPECT_TRUE(Built(cache, 2, 1000));
  EXPECT_THAT(Kept(cache), ElementsAre(2));
  EXPECT_FALSE(Built(cache, 2, 1000));
  EXPECT_TRUE(Built(cache, 3, 4));
  EXPECT_THAT(Kept(cache), ElementsAre(3));
}

TEST_F(CacheTest, ALimitOfNothingKeepsNothing) {
  for (const CacheLimits& limits : {CacheLimits{.entries = 0, .bytes = 100},
                                    CacheLimits{.entries = 10, .bytes = 0, .keep_one = true}}) {
    Cache cache(limits);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(Built(cache, 1));
    EXPECT_EQ(cache.stats().misses, 3);
    EXPECT_EQ(cache.stats().hits, 0);
    EXPECT_EQ(cache.stats().entries, 0);
    const Made failed = cache.GetOrBuild(ByNumber{2}, []() -> Made { return Internal("no"); });
    EXPECT_TRUE(absl::IsInternal(failed.status()));
    EXPECT_EQ(cache.stats().failures, 1);
  }
}

TEST_F(CacheTest, ValuesOutliveTheirPlace) {
  Cache cache({.entries = 1, .bytes = 100});
  const Made held = cache.GetOrBuild(ByNumber{1}, [] {
    return std::make_shared<const Blob>(Blob{7, 1});
  });
  Built(cache, 2);
  EXPECT_EQ((*held)->value, 7);
  EXPECT_EQ(held->use_count(), 1);
}

TEST_F(CacheTest, AFailedBuildIsNotKept) {
  Cache cache({.entries = 10, .bytes = 100});
  const Made failed = cache.GetOrBuild(ByNumber{1}, []() -> Made { return Internal("not yet"); });
  EXPECT_TRUE(absl::IsInternal(failed.status()));
  EXPECT_EQ(cache.stats().entries, 0);
  EXPECT_TRUE(Built(cache, 1));
  EXPECT_EQ(cache.stats().failures, 1);
}

// `threads` callers of one query, all there before the first one's build ends.
template <typename Query>
std::vector<Made> AtOnce(Cache& cache, const Query& query, int threads, std::atomic<int>& builds,
                         const std::function<Made(int)>& build) {
  std::vector<Made> results(static_cast<size_t>(threads), Made(Internal("not called")));
  std::latch started(1), go(1);
  const auto call = [&](size_t i) {
    results[i] = cache.GetOrBuild(query, [&]() -> Made {
      const int number = ++builds;
      if (number == 1) {
        started.count_down();
        go.wait();
      }
      return build(number);
    });
  };
  std::vector<std::thread> callers;
  callers.emplace_back(call, 0);
  started.wait();
  for (size_t i = 1; i < results.size(); ++i) callers.emplace_back(call, i);
  while (cache.stats().hits < threads - 1) std::this_thread::yield();
  cache.Clear();  // leaves what is under construction
  go.count_down();
  for (std::thread& t : callers) t.join();
  return results;
}

TEST_F(CacheTest, OthersWaitForTheOneBuild) {
  Cache cache({.entries = 10, .bytes = 100});
  std::atomic<int> builds = 0;
  for (const Made& made : AtOnce(cache, ByNumber{1}, 8, builds, [&](int) -> Made {
         EXPECT_TRUE(Built(cache, 2));  // no lock is held
         return std::make_shared<const Blob>(Blob{5, 1});
       })) {
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ((*made)->value, 5);
  }
  EXPECT_EQ(builds, 1);
}

TEST_F(CacheTest, OthersAreToldOfTheFailureTheyWaitedFor) {
  Cache cache({.entries = 10, .bytes = 100});
  std::atomic<int> builds = 0;
  for (const Made& made :
       AtOnce(cache, ByNumber{1}, 4, builds, [](int) -> Made { return Internal("no"); })) {
    EXPECT_TRUE(absl::IsInternal(made.status()));
  }
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(cache.stats().entries, 0);
}

// The first may have failed for want of what a later one has.
TEST_F(CacheTest, ByValueOthersTryThemselvesWhereTheFirstFails) {
  Cache cache({.entries = 10, .bytes = 100});
  std::atomic<int> builds = 0;
  const std::vector<Made> all = AtOnce(cache, ByDigit{11}, 4, builds, [](int number) -> Made {
    if (number == 1) return Internal("no");
    return std::make_shared<const Blob>(Blob{11, 1});
  });
  EXPECT_FALSE(all[0].ok());
  for (size_t i = 1; i < all.size(); ++i) EXPECT_TRUE(all[i].ok()) << all[i].status();
  EXPECT_EQ(builds, 2);
}

TEST_F(CacheTest, ValuesOfOneKeyStandSideBySide) {
  Cache cache({.entries = 100, .bytes = 100});
  for (int n : {11, 12, 21, 11, 12, 21}) EXPECT_EQ(Get(cache, ByDigit{n}).first, n);
  EXPECT_EQ(cache.stats().misses, 3);
  // The ninth takes the place of the first.
  for (int n = 12; n < 11 + Cache::kMaxVariants; ++n) Get(cache, ByDigit{n});
  EXPECT_FALSE(Get(cache, ByDigit{11}).second);
  Get(cache, ByDigit{10});
  EXPECT_EQ(cache.stats().entries, Cache::kMaxVariants + 1);
  EXPECT_TRUE(Get(cache, ByDigit{11}).second);
  EXPECT_FALSE(Get(cache, ByDigit{21}).second);
}

TEST_F(CacheTest, StaleValuesLeaveWhenAnotherComes) {
  Cache cache({.entries = 100, .bytes = 100});
  for (int n : {11, 12}) Get(cache, ByDigit{n});
  Get(cache, ByDigit{13, /*stale=*/1});
  EXPECT_THAT(Kept(cache), ElementsAre(13, 12));
}

TEST_F(CacheTest, CachesOfOneBudget) {
  const auto budget = std::make_shared<CacheBudget>(CacheLimits{.entries = 3, .bytes = 100});
  auto a = std::make_unique<Cache>(budget);
  Cache b(budget);
  Built(*a, 1);
  Built(b, 2);
  Built(*a, 3);
  Built(b, 4);  // 1 is the oldest of both
  EXPECT_THAT(Kept(*a), ElementsAre(3));
  EXPECT_THAT(Kept(b), ElementsAre(4, 2));
  EXPECT_EQ(budget->evictions(), 1);
  EXPECT_EQ(budget->stats().entries, 3);
  a.reset();
  EXPECT_EQ(budget->stats().entries, 2);
  EXPECT_EQ(budget->stats().misses, 4);
  EXPECT_TRUE(Built(b, 5));  // in the room that it left
  EXPECT_EQ(budget->evictions(), 1);
}

TEST_F(CacheTest, ManyThreadsAndLittleRoom) {
  const auto budget = std::make_shared<CacheBudget>(CacheLimits{.entries = 5, .bytes = 20});
  Cache caches[2] = {Cache(budget), Cache(budget)};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const int n = (i * 7 + t) % 11;
        Built(caches[n % 2], n, static_cast<size_t>(n));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  const CacheStats stats = budget->stats();
  EXPECT_LE(stats.entries, 5);
  EXPECT_LE(stats.bytes, 20);
  EXPECT_EQ(stats.hits + stats.misses, 8000);
  EXPECT_EQ(stats.entries, stats.misses - stats.evictions);
}

}  // namespace
}  // namespace tenon
