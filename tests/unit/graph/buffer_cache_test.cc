#include "graph/buffer_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>

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
  while (void* block = cache.Take(1 << 20)) std::free(block);
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
