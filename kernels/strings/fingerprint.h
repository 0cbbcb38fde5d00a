// Hash functions whose values models depend on.
#ifndef TENON_KERNELS_STRINGS_FINGERPRINT_H_
#define TENON_KERNELS_STRINGS_FINGERPRINT_H_

#include <cstdint>
#include <string>

namespace tenon {

uint64_t Fingerprint64(const std::string& text);  // FarmHash
uint64_t MurmurHash64(const std::string& text);   // MurmurHash64A with TensorFlow's seed
uint64_t SipHash(const std::string& text, uint64_t key0, uint64_t key1);  // SipHash-2-4
// One fingerprint from two, in order, by MurmurHash's mixing.
uint64_t JoinFingerprints(uint64_t first, uint64_t second);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_FINGERPRINT_H_
