#include "runtime/memory/arena.h"

#include <gtest/gtest.h>

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
