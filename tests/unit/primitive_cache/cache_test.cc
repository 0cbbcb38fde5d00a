#include "primitive_cache/cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "env/status.h"

namespace tenon {
namespace {

struct Blob {
  size_t size = 1;
  int value = 0;
  size_t bytes() const { return size; }
};
using Made = absl::StatusOr<std::shared_ptr<const Blob>>;

struct NumberKey {
  int number;
  friend bool operator==(const NumberKey&, const NumberKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const NumberKey& k) {
    return H::combine(std::move(h), k.number);
  }
};
struct OtherKey {
  int number;
  friend bool operator==(const OtherKey&, const OtherKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const OtherKey& k) {
    return H::combine(std::move(h), k.number);
  }
};

Made MakeBlob(int value, size_t size = 1) {
  return std::make_shared<const Blob>(Blob{size, value});
}

TEST(PrimitiveCache, BuildsOnceAndCounts) {
  PrimitiveCache cache;
  int built = 0;
  for (int i = 0; i < 3; ++i) {
    Made got = cache.GetOrCreate<Blob>(NumberKey{7}, [&] {
      ++built;
      return MakeBlob(42);
    });
    ASSERT_TRUE(got.ok());
    EXPECT_EQ((*got)->value, 42);
  }
  EXPECT_EQ(built, 1);
  const PrimitiveCache::Statistics s = cache.statistics();
  EXPECT_EQ(s.misses, 1);
  EXPECT_EQ(s.hits, 2);
  EXPECT_EQ(s.entries, 1);
  EXPECT_EQ(s.bytes, 1);
}

TEST(PrimitiveCache, KeyTypesAreNameSpaces) {
  PrimitiveCache cache;
  Made a = cache.GetOrCreate<Blob>(NumberKey{1}, [] { return MakeBlob(1); });
  Made b = cache.GetOrCreate<Blob>(OtherKey{1}, [] { return MakeBlob(2); });
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ((*a)->value, 1);
  EXPECT_EQ((*b)->value, 2);
}

TEST(PrimitiveCache, OthersWaitForTheOneBuild) {
  PrimitiveCache cache;
  std::atomic<int> built = 0;
  std::latch started(1), go(1);
  auto get = [&] {
    Made got = cache.GetOrCreate<Blob>(NumberKey{1}, [&] {
      ++built;
      started.count_down();
      go.wait();
      return MakeBlob(5);
    });
    EXPECT_TRUE(got.ok());
    EXPECT_EQ((*got)->value, 5);
  };
  std::thread first(get);
  started.wait();
  // A build in progress holds no lock: another key is not blocked.
  EXPECT_TRUE(cache.GetOrCreate<Blob>(NumberKey{2}, [] { return MakeBlob(6); }).ok());
  std::vector<std::thread> others;
  for (int i = 0; i < 8; ++i) others.emplace_back(get);
  while (cache.statistics().hits < 8) std::this_thread::yield();
  cache.Clear();  // leaves entries being built
  go.count_down();
  first.join();
  for (std::thread& t : others) t.join();
  EXPECT_EQ(built, 1);
}

TEST(PrimitiveCache, FailuresAreToldButNotKept) {
  PrimitiveCache cache;
  int tries = 0;
  auto make = [&]() -> Made {
    if (++tries == 1) return Unimplemented("not yet");
    return MakeBlob(3);
  };
  EXPECT_TRUE(absl::IsUnimplemented(cache.GetOrCreate<Blob>(NumberKey{1}, make).status()));
  EXPECT_EQ(cache.statistics().entries, 0);
  EXPECT_TRUE(cache.GetOrCreate<Blob>(NumberKey{1}, make).ok());
  EXPECT_EQ(cache.statistics().failures, 1);
}

TEST(PrimitiveCache, EvictsWhatWasUsedLongestAgo) {
  PrimitiveCache cache({.entries = 2});
  auto get = [&](int n) {
    return **cache.GetOrCreate<Blob>(NumberKey{n}, [n] { return MakeBlob(n); });
  };
  get(1);
  get(2);
  get(1);
  get(3);  // evicts 2
  EXPECT_EQ(cache.statistics().evictions, 1);
  EXPECT_EQ(cache.statistics().entries, 2);
  get(1);
  EXPECT_EQ(cache.statistics().misses, 3);
  get(2);
  EXPECT_EQ(cache.statistics().misses, 4);
}

TEST(PrimitiveCache, BoundedByBytes) {
  PrimitiveCache cache({.bytes = 100});
  Made held = cache.GetOrCreate<Blob>(NumberKey{0}, [] { return MakeBlob(9, 60); });
  for (int n = 1; n < 5; ++n) {
    ASSERT_TRUE(cache.GetOrCreate<Blob>(NumberKey{n}, [n] { return MakeBlob(n, 60); }).ok());
    EXPECT_LE(cache.statistics().bytes, 100);
  }
  EXPECT_EQ(cache.statistics().evictions, 4);
  EXPECT_EQ((*held)->value, 9);
  // Larger than the whole cache: returned but not kept.
  EXPECT_TRUE(cache.GetOrCreate<Blob>(NumberKey{9}, [] { return MakeBlob(1, 1000); }).ok());
  EXPECT_EQ(cache.statistics().bytes, 0);
}

TEST(PrimitiveCache, DisabledBuildsEveryTime) {
  PrimitiveCache cache({.enabled = false});
  int built = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(cache
                    .GetOrCreate<Blob>(NumberKey{1},
                                       [&] {
                                         ++built;
                                         return MakeBlob(1);
                                       })
                    .ok());
  }
  EXPECT_EQ(built, 2);
  EXPECT_EQ(cache.statistics().entries, 0);
}

}  // namespace
}  // namespace tenon
