// Queries the CPU's instruction sets, as far as oneDNN may use them (ONEDNN_MAX_CPU_ISA can
// restrict them, for our own vector code as well).
#ifndef TENON_PRIMITIVE_CACHE_ISA_H_
#define TENON_PRIMITIVE_CACHE_ISA_H_

#include <string>

namespace tenon {

// Applies oneDNN's limit to our own vector code (Highway's dispatch). Only the first call has an
// effect; a PrimitiveCache makes it before any kernel runs.
void LimitVectorCode();

// Whether the hardware has AVX-512 with sums of 8-bit products (VNNI).
bool HasAvx512Vnni();

// Whether the hardware has dot products of bfloat16 (AVX-512 BF16 or AMX).
bool HasBfloat16Instructions();

// How much faster products of bfloat16 are than those of float: 1 without such instructions.
double Bfloat16Speed();

// Whether the hardware has matrix tiles (AMX) with products of bfloat16, and the kernel lets this
// process use them.
bool AllowsTiles();

// oneDNN's version and the instruction set that it uses: "onednn 2.6.3 isa 495".
std::string OnednnIdentity();

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_ISA_H_
