// What the CPU can do, as far as oneDNN may use it (ONEDNN_MAX_CPU_ISA can take some of it away).
#ifndef TENON_PRIMITIVE_CACHE_ISA_H_
#define TENON_PRIMITIVE_CACHE_ISA_H_

namespace tenon {

// Dot products of bfloat16 in hardware (AVX-512 BF16 or AMX).
bool HasBfloat16Instructions();

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_ISA_H_
