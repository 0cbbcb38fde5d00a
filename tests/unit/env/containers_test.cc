// Tables of env/containers.h beside the standard library's, under the same random changes. What
// refused memory does to them: tests/faults/containers_test.cc.
#include "env/containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(HashMap, KeepsWhatAnOrderedMapKeeps) {
  std::mt19937 random(1);
  for (const int keys : {1, 3, 8, 20, 500}) {
    HashMap<int, int> map;
    std::map<int, int> expected;
    for (int i = 0; i < 5000; ++i) {
      const int key = static_cast<int>(random() % keys);
      switch (random() % 6) {
        case 0:
          map[key] = i;
          expected[key] = i;
          break;
        case 1:
          EXPECT_EQ(map.try_emplace(key, i).second, expected.try_emplace(key, i).second);
          break;
        case 2:
          EXPECT_EQ(map.insert_or_assign(key, i).second, expected.insert_or_assign(key, i).second);
          break;
        default:
          EXPECT_EQ(map.erase(key), expected.erase(key));
      }
      ASSERT_EQ(map.size(), expected.size());
    }
    EXPECT_EQ((std::map<int, int>(map.begin(), map.end())), expected) << keys;
  }
}

TEST(HashMap, ErasuresDoNotMakeItGrow) {
  HashMap<int, int> map;
  for (int i = 0; i < 100'000; ++i) {
    map[i] = i;
    map.erase(i - 10);
  }
  EXPECT_EQ(map.size(), 10u);
  EXPECT_LT(map.capacity(), 100u);
}

TEST(HashMap, NothingMovesUpToTheReservedNumber) {
  for (const int count : {1, 6, 7, 14, 100, 1000}) {
    HashMap<int, int> map;
    map.reserve(count);
    map[0] = 0;
    const int* const first = &map.at(0);
    for (int i = 1; i < count; ++i) map[i] = i;
    EXPECT_EQ(&map.at(0), first) << count;
  }
}

TEST(HashMap, ElementsMayOnlyBeMovable) {
  HashMap<std::string, std::unique_ptr<int>> map;
  map.emplace("a", std::make_unique<int>(1));
  map["b"] = std::make_unique<int>(2);
  auto kept = std::make_unique<int>(3);
  EXPECT_FALSE(map.try_emplace("a", std::move(kept)).second);
  EXPECT_NE(kept, nullptr);  // an argument that was not needed
  for (int i = 0; i < 100; ++i) map.emplace(std::to_string(i), nullptr);
  EXPECT_EQ(*map.at("a"), 1);
  HashMap<std::string, std::unique_ptr<int>> other = std::move(map);
  EXPECT_EQ(*other.at("b"), 2);
}

TEST(HashMap, CopiesAssignmentsSwaps) {
  HashMap<std::string, int> a = {{"x", 1}, {"y", 2}, {"x", 3}};
  EXPECT_THAT(a, UnorderedElementsAre(Pair("x", 1), Pair("y", 2)));
  HashMap<std::string, int> b = a;
  EXPECT_EQ(a, b);
  b["z"] = 4;
  EXPECT_NE(a, b);
  swap(a, b);
  EXPECT_EQ(a.size(), 3u);
  a = b;
  EXPECT_EQ(a, b);
  a = std::move(b);
  EXPECT_EQ(a.size(), 2u);
  a.clear();
  EXPECT_TRUE(a.empty());
}

TEST(HashMap, AMissingKeyIsAnError) {
  const HashMap<std::string, int> map = {{"x", 1}};
  EXPECT_THROW(map.at("y"), std::out_of_range);
}

TEST(HashSet, ErasesByPredicate) {
  HashSet<int> set;
  for (int i = 0; i < 100; ++i) set.insert(i);
  EXPECT_EQ(erase_if(set, [](int i) { return i % 10 != 0; }), 90u);
  EXPECT_EQ(set.size(), 10u);
  EXPECT_TRUE(set.contains(50));
}

}  // namespace
}  // namespace tenon
