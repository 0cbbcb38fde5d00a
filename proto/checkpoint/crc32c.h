// CRC-32C (Castagnoli), in the masked form that tables and bundles store.
#ifndef TENON_PROTO_CHECKPOINT_CRC32C_H_
#define TENON_PROTO_CHECKPOINT_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// The checksum of `bytes` bytes, continuing from `crc` (0 at the start).
uint32_t Crc32c(uint32_t crc, const void* data, size_t bytes);

inline uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace tenon

#endif  // TENON_PROTO_CHECKPOINT_CRC32C_H_
