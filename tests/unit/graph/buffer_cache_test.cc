#include "graph/buffer_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "graph/tensor.h"

namespace tenon {
namespace {

#ifndef __SANITIZE_ADDRESS__

void* Block() { return std::aligned_alloc(64, 1 << 20); }

TEST(BufferCache, GivesBackBlocksOfTheSameSize) {
  BufferCache cache;
  void* a = Block();
  void* b = Block();
  cache.Give(a, 1 << 20);
  cache.Give(b, 1 << 20);
  EXPECT_EQ(cache.bytes(), size_t{2} << 20);
  EXPECT_EQ(cache.Take(1 << 19), nullptr);
  EXPECT_EQ(cache.Take(1 << 20), b);
  EXPECT_EQ(cache.Take(1 << 20), a);
  EXPECT_EQ(cache.Take(1 << 20), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
  std::free(a);
  std::free(b);
}

TEST(BufferCache, IsBounded) {
  BufferCache cache;
  for (int i = 0; i < 100; ++i) cache.Give(Block(), 1 << 20);
  EXPECT_LE(cache.bytes(), BufferCache::kMostBytes);
  EXPECT_GT(cache.bytes(), BufferCache::kMostBytes / 2);
  cache.Give(std::malloc(100), 100);  // too small to keep
  EXPECT_EQ(cache.Take(100), nullptr);
  cache.Clear();
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_EQ(cache.Take(1 << 20), nullptr);
}

TEST(BufferCache, KeepsLargeBlocksOfSizesThatAreAskedForAgain) {
  constexpr size_t kBytes = size_t{40} << 20, kOther = size_t{48} << 20;
  BufferCache cache;
  const auto use = [&](size_t bytes) {
    void* block = cache.Take(bytes);
    const bool kept = block != nullptr;
    cache.Give(kept ? block : std::aligned_alloc(64, bytes), bytes);
    return kept;
  };
  EXPECT_FALSE(use(kBytes));
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_FALSE(use(kBytes));
  EXPECT_EQ(cache.bytes(), kBytes);
  EXPECT_TRUE(use(kBytes));
  // Small blocks have room beside it.
  EXPECT_FALSE(use(BufferCache::kLarge));
  EXPECT_EQ(cache.bytes(), kBytes + BufferCache::kLarge);
  EXPECT_TRUE(use(BufferCache::kLarge));
  // All sizes are new.
  for (size_t i = 0; i < 20; ++i) EXPECT_FALSE(use(kOther + i * 64));
  EXPECT_EQ(cache.bytes(), kBytes + BufferCache::kLarge);
  EXPECT_TRUE(use(kBytes));
  cache.Clear();
  EXPECT_FALSE(use(kBytes));
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(BufferCache, KeepsNoWeightsOfOneSize) {
  constexpr size_t kBytes = size_t{40} << 20;
  BufferCache cache;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cache.Take(kBytes), nullptr);
  for (int i = 0; i < 3; ++i) cache.Give(std::aligned_alloc(64, kBytes), kBytes);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(BufferCache, LargeBlocksAreBoundedAndAge) {
  constexpr size_t kBytes = size_t{100} << 20;
  BufferCache cache;
  cache.Give(std::aligned_alloc(64, kBytes), kBytes);
  void* blocks[4];
  for (void*& b : blocks) b = cache.Take(kBytes);
  for (void*& b : blocks) b = std::aligned_alloc(64, kBytes);
  for (void*& b : blocks) cache.Give(b, kBytes);
  EXPECT_EQ(cache.bytes(), 2 * kBytes);
  for (int i = 0; i < 2000; ++i) {
    void* const block = cache.Take(1 << 20);
    cache.Give(block != nullptr ? block : Block(), 1 << 20);
  }
  EXPECT_EQ(cache.bytes(), size_t{1} << 20);
  cache.Clear();
}

TEST(BufferCache, ThreadsShareIt) {
  BufferCache cache;
  auto work = [&cache](size_t bytes) {
    for (int i = 0; i < 500; ++i) {
      void* block = cache.Take(bytes);
      if (block == nullptr) block = std::aligned_alloc(64, bytes);
      std::memset(block, i, 64);
      cache.Give(block, bytes);
      if (i % 100 == 0) cache.Clear();
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) threads.emplace_back(work, size_t{64} << (10 + i % 2));
  for (std::thread& t : threads) t.join();
  EXPECT_LE(cache.bytes(), BufferCache::kMostBytes);
  cache.Clear();
}

TEST(BufferCache, TensorsOfOneSizeShareMemoryOneAfterTheOther) {
  const Shape shape({100, 1000});
  const void* first = Tensor::Allocate(DType::kFloat, shape)->raw();
  const Tensor second = *Tensor::Allocate(DType::kFloat, shape);
  EXPECT_EQ(second.raw(), first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second.raw()) % 64, 0u);
}

#endif  // __SANITIZE_ADDRESS__

}  // namespace
}  // namespace tenon
