// What the CPU can do, as far as oneDNN may use it (ONEDNN_MAX_CPU_ISA can take some of it away).
#ifndef TENON_PRIMITIVE_CACHE_ISA_H_
#define TENON_PRIMITIVE_CACHE_ISA_H_

#include <string>

namespace tenon {

// Dot products of bfloat16 in hardware (AVX-512 BF16 or AMX).
bool HasBfloat16Instructions();

// oneDNN's version and the instruction set that it uses: "onednn 2.6.3 isa 495".
std::string OnednnIdentity();

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_ISA_H_
