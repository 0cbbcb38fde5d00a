#include "runtime/memory/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>

namespace tenon {
namespace {

TEST(Arena, NoTwoLiveTensorsOverlap) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::vector<ArenaItem> items(1 + random() % 60);
    for (ArenaItem& item : items) {
      item.bytes = random() % 4 == 0 ? 0 : random() % 5000;
      item.first = static_cast<int>(random() % 40);
      item.last = item.first + static_cast<int>(random() % 8);
    }
    auto layout = LayOutArena(items);
    ASSERT_TRUE(layout.ok());
    for (size_t a = 0; a < items.size(); ++a) {
      EXPECT_EQ(layout->offsets[a] % kArenaAlignment, 0u);
      EXPECT_LE(layout->offsets[a] + items[a].bytes, layout->bytes);
      for (size_t b = 0; b < a; ++b) {
        const bool together = items[a].first <= items[b].last && items[b].first <= items[a].last;
        const bool overlap = layout->offsets[a] < layout->offsets[b] + items[b].bytes &&
                             layout->offsets[b] < layout->offsets[a] + items[a].bytes;
        EXPECT_FALSE(together && overlap && items[a].bytes > 0 && items[b].bytes > 0)
            << a << " and " << b;
      }
    }
  }
}

// More items than are looked at one by one, more of them live at once than a gap is searched among.
TEST(Arena, NoTwoOfManyLiveTensorsOverlap) {
  std::mt19937 random(1);
  std::vector<ArenaItem> items(6000);
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].bytes = 1 + random() % 5000;
    items[i].first = static_cast<int>(i);
    items[i].last = items[i].first + static_cast<int>(i % 3 == 0 ? random() % 6000 : random() % 4);
  }
  const auto layout = LayOutArena(items);
  ASSERT_TRUE(layout.ok());
  size_t all = 0;
  for (size_t a = 0; a < items.size(); ++a) {
    all += items[a].bytes;
    for (size_t b = 0; b < a; ++b) {
      if (items[a].first > items[b].last) continue;
      ASSERT_TRUE(layout->offsets[a] >= layout->offsets[b] + items[b].bytes ||
                  layout->offsets[b] >= layout->offsets[a] + items[a].bytes)
          << a << " and " << b;
    }
  }
  EXPECT_LT(layout->bytes, all / 2);
}

// 16 times the items take about 16 times as long; if each looked at all others, it would be 256.
TEST(Arena, TimeGrowsWithTheItems) {
  const auto seconds = [](int n) {
    std::vector<ArenaItem> items;
    for (int i = 0; i < n; ++i) {
      items.push_back({static_cast<size_t>(64 + i % 100 * 64), i, i % 500 == 0 ? n : i + 3});
    }
    const std::clock_t start = std::clock();
    EXPECT_TRUE(LayOutArena(items).ok());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const auto least = [&](int n) { return std::min({seconds(n), seconds(n), seconds(n)}); };
  EXPECT_LT(least(80000), 160 * least(5000));
}

TEST(Arena, AChainTakesTwoBuffers) {
  std::vector<ArenaItem> items;
  for (int i = 0; i < 50; ++i) items.push_back({6400, i, i + 1});
  auto layout = LayOutArena(items);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->bytes, 2u * 6400);
}

TEST(Arena, RefusesTheImpossible) {
  EXPECT_EQ(LayOutArena({{SIZE_MAX - 10, 0, 1}}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(LayOutArena({{size_t{1} << 46, 0, 1}, {size_t{1} << 46, 0, 1}}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace tenon
