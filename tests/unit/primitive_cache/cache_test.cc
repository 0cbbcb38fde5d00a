#include "primitive_cache/cache.h"

#include <gtest/gtest.h>

#include "env/flags.h"
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
  const CacheStats s = cache.statistics();
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

TEST(PrimitiveCache, IsBounded) {
  PrimitiveCache cache({.entries = 2, .bytes = 100});
  Made held = cache.GetOrCreate<Blob>(NumberKey{0}, [] { return MakeBlob(9, 60); });
  for (int n = 1; n < 5; ++n) {
    ASSERT_TRUE(cache.GetOrCreate<Blob>(NumberKey{n}, [n] { return MakeBlob(n, 60); }).ok());
    EXPECT_LE(cache.statistics().bytes, 100);
  }
  for (int n = 5; n < 9; ++n) {
    ASSERT_TRUE(cache.GetOrCreate<Blob>(NumberKey{n}, [n] { return MakeBlob(n, 1); }).ok());
    EXPECT_LE(cache.statistics().entries, 2);
  }
  EXPECT_EQ((*held)->value, 9);
  cache.Clear();
  EXPECT_EQ(cache.statistics().entries, 0);
}

TEST(PrimitiveCache, KeepsNothingWhereTheFlagsSaySo) {
  Flags disabled, no_entries, no_bytes;
  disabled.primitive_cache = false;
  no_entries.cache_entries = 0;
  no_bytes.cache_bytes = 0;
  for (const Flags& flags : {disabled, no_entries, no_bytes}) {
    PrimitiveCache cache(PrimitiveCache::LimitsOf(flags));
    for (int built : {1, 2}) {
      const Made made = cache.GetOrCreate<Blob>(NumberKey{1}, [&] { return MakeBlob(built); });
      ASSERT_TRUE(made.ok());
      EXPECT_EQ((*made)->value, built);
    }
    EXPECT_EQ(cache.statistics().entries, 0);
  }
}

}  // namespace
}  // namespace tenon
