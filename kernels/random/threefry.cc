#include "kernels/random/threefry.h"

#include <bit>
#include <cstddef>

namespace tenon {
namespace {

constexpr uint32_t kParity = 0x1BD11BDA;
constexpr int kGroups = 5;  // of four rounds, with the key added after each
constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};

}  // namespace

std::array<uint32_t, 2> Threefry(uint64_t counter, uint64_t key) {
  const uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {low, high, low ^ high ^ kParity};
  uint32_t x = static_cast<uint32_t>(counter) + low;
  uint32_t y = static_cast<uint32_t>(counter >> 32) + high;
  for (uint32_t group = 0; group < kGroups; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

}  // namespace tenon
