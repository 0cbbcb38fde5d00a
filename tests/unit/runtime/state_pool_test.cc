#include "runtime/memory/state_pool.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr size_t kSmall = 1 << 10;
constexpr size_t kLarge = 5 << 20;

std::unique_ptr<ExecState> Take(StatePool::Shelf& shelf) {
  auto state = shelf.Take();
  EXPECT_TRUE(state.ok());
  return *std::move(state);
}

TEST(StatePool, PlansShareArenas) {
  auto pool = std::make_shared<StatePool>();
  StatePool::Shelf small(pool, kSmall), large(pool, kLarge);
  auto state = Take(large);
  EXPECT_GE(state->arena.bytes(), kLarge);
  const char* arena = state->arena.data();
  large.Give(std::move(state));
  EXPECT_EQ(pool->arenas(), 1u);
  state = Take(small);
  EXPECT_EQ(state->arena.data(), arena);
  EXPECT_EQ(pool->arenas(), 0u);
  small.Give(std::move(state));
  EXPECT_EQ(Take(large)->arena.data(), arena);
}

TEST(StatePool, ALargerArenaTakesThePlaceOfAFreeOne) {
  auto pool = std::make_shared<StatePool>();
  StatePool::Shelf small(pool, kSmall), large(pool, kLarge);
  small.Give(Take(small));
  EXPECT_LT(pool->arena_bytes(), kLarge);
  large.Give(Take(large));
  EXPECT_EQ(pool->arenas(), 1u);
  EXPECT_GE(pool->arena_bytes(), kLarge);
}

TEST(StatePool, RunsAtOnceHaveArenasOfTheirOwn) {
  auto pool = std::make_shared<StatePool>();
  StatePool::Shelf shelf(pool, kSmall);
  auto a = Take(shelf), b = Take(shelf);
  EXPECT_NE(a->arena.data(), b->arena.data());
  shelf.Give(std::move(a));
  shelf.Give(std::move(b));
  EXPECT_EQ(pool->arenas(), 2u);
  EXPECT_EQ(shelf.size(), 2u);
}

TEST(StatePool, ArenasThatNoPlanNeedsGo) {
  auto pool = std::make_shared<StatePool>();
  StatePool::Shelf small(pool, kSmall);
  std::unique_ptr<ExecState> late;
  {
    StatePool::Shelf large(pool, kLarge);
    auto first = Take(large), second = Take(large);
    large.Give(std::move(first));
    EXPECT_GE(pool->arena_bytes(), kLarge);
    late = std::move(second);
  }
  EXPECT_EQ(pool->arena_bytes(), 0u);
  small.Give(std::move(late));  // of a plan that was evicted while it ran
  EXPECT_EQ(pool->arena_bytes(), 0u);
  small.Give(Take(small));
  EXPECT_EQ(pool->arenas(), 1u);
}

}  // namespace
}  // namespace tenon
