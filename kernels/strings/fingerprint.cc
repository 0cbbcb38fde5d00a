#include "kernels/strings/fingerprint.h"

#include <farmhash.h>

#include <bit>
#include <cstring>

namespace tenon {
namespace {

uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

}  // namespace

uint64_t Fingerprint64(const std::string& text) {
  return util::Fingerprint64(text.data(), text.size());
}

uint64_t MurmurHash64(const std::string& text) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995, kSeed = 0xDECAFCAFFE;
  const char* s = text.data();
  size_t n = text.size();
  uint64_t h = kSeed ^ (n * kMul);
  for (; n >= 8; s += 8, n -= 8) {
    uint64_t k = Load64(s) * kMul;
    k ^= k >> 47;
    h ^= k * kMul;
    h *= kMul;
  }
  if (n > 0) {
    uint64_t tail = 0;
    std::memcpy(&tail, s, n);
    h ^= tail;
    h *= kMul;
  }
  h ^= h >> 47;
  h *= kMul;
  return h ^ (h >> 47);
}

uint64_t SipHash(const std::string& text, uint64_t key0, uint64_t key1) {
  uint64_t v0 = 0x736f6d6570736575 ^ key0, v1 = 0x646f72616e646f6d ^ key1;
  uint64_t v2 = 0x6c7967656e657261 ^ key0, v3 = 0x7465646279746573 ^ key1;
  auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  };
  auto absorb = [&](uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  const char* s = text.data();
  size_t n = text.size();
  for (; n >= 8; s += 8, n -= 8) absorb(Load64(s));
  uint64_t tail = static_cast<uint64_t>(text.size()) << 56;
  for (size_t i = 0; i < n; ++i) {
    tail |= static_cast<uint64_t>(static_cast<unsigned char>(s[i])) << (8 * i);
  }
  absorb(tail);
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

uint64_t JoinFingerprints(uint64_t first, uint64_t second) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  auto mix = [](uint64_t v) { return v ^ (v >> 47); };
  const uint64_t joined = (first ^ kMul ^ mix(second * kMul) * kMul) * kMul;
  return mix(mix(joined) * kMul);
}

}  // namespace tenon
