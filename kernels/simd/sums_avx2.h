// Innermost loops of products for AVX2, in assembly. Compilers keep the 12 sums of such a loop in
// registers, but copy them from one register to another as soon as the loop is unrolled; and
// without that it is slow where two threads share a core: 99 x 768 x 3072 takes 1.3 times as long
// in C++ there, and about as long where each thread has a core.
//
// Distances are in bytes. Results are those of the loops in C++ that they replace, bit by bit.
#ifndef TENON_KERNELS_SIMD_SUMS_AVX2_H_
#define TENON_KERNELS_SIMD_SUMS_AVX2_H_

#include <cstddef>

namespace tenon {

// clang-format off
#define TENON_LOAD_ROW(address, vector) "vmovups " address ", %%ymm" vector "\n\t"
#define TENON_ADD_PRODUCT(vector, sum) "vfmadd231ps %%ymm" vector ", %%ymm15, %%ymm" sum "\n\t"
#define TENON_ADD_TWO(element, sum0, sum1) \
  "vbroadcastss " element ", %%ymm15\n\t" \
  TENON_ADD_PRODUCT("12", sum0) TENON_ADD_PRODUCT("13", sum1)
#define TENON_ADD_THREE(element, sum0, sum1, sum2) \
  TENON_ADD_TWO(element, sum0, sum1) TENON_ADD_PRODUCT("14", sum2)
#define TENON_CLEAR(sum) "vxorps %%xmm" sum ", %%xmm" sum ", %%xmm" sum "\n\t"
#define TENON_STORE(offset, sum) "vmovaps %%ymm" sum ", " offset "(%[sums])\n\t"
#define TENON_CLEAR_SUMS \
  TENON_CLEAR("0") TENON_CLEAR("1") TENON_CLEAR("2") TENON_CLEAR("3") \
  TENON_CLEAR("4") TENON_CLEAR("5") TENON_CLEAR("6") TENON_CLEAR("7") \
  TENON_CLEAR("8") TENON_CLEAR("9") TENON_CLEAR("10") TENON_CLEAR("11")
#define TENON_STORE_SUMS \
  TENON_STORE("0", "0") TENON_STORE("32", "1") TENON_STORE("64", "2") \
  TENON_STORE("96", "3") TENON_STORE("128", "4") TENON_STORE("160", "5") \
  TENON_STORE("192", "6") TENON_STORE("224", "7") TENON_STORE("256", "8") \
  TENON_STORE("288", "9") TENON_STORE("320", "10") TENON_STORE("352", "11")
#define TENON_SUMS_CLOBBERED \
  "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "ymm8", "ymm9", "ymm10", \
  "ymm11", "ymm12", "ymm13", "ymm14", "ymm15", "memory", "cc"
// clang-format on

// sums[r][16] = the sum over 8 * steps terms k of a[r][k] * w[k][16], for 4 to 6 rows.
struct RowSums {
  static constexpr size_t kStep = 8;  // terms
  const float* a;
  size_t a_row, a_step;  // from row to row; from 8 terms, which lie side by side, to the next 8
  const float *w, *w_second;  // the first 8 columns, and the others
  size_t w_row;               // from term to term
  // Prefetched: the line there and the one `ahead_step` behind it, in the next step those behind.
  const void* ahead;
  size_t ahead_step;
  size_t steps;  // not 0
  float* sums;   // room for 6 rows, at a multiple of 32 bytes
};

// clang-format off
#define TENON_ROWS_4(k) \
  TENON_ADD_TWO(k "(%[a])", "0", "1") TENON_ADD_TWO(k "(%[a],%[a_row])", "2", "3") \
  TENON_ADD_TWO(k "(%[a],%[a_row],2)", "4", "5") TENON_ADD_TWO(k "(%[a3])", "6", "7")
#define TENON_ROWS_5(k) TENON_ROWS_4(k) TENON_ADD_TWO(k "(%[a3],%[a_row])", "8", "9")
#define TENON_ROWS_6(k) TENON_ROWS_5(k) TENON_ADD_TWO(k "(%[a3],%[a_row],2)", "10", "11")
#define TENON_TERM(k, w_row, rows) \
  TENON_LOAD_ROW("(%[w]" w_row ")", "12") TENON_LOAD_ROW("(%[w_second]" w_row ")", "13") rows(k)
#define TENON_FOUR_TERMS(k0, k1, k2, k3, rows) \
  "prefetcht1 (%[ahead])\n\t" \
  TENON_TERM(k0, "", rows) TENON_TERM(k1, ",%[w_row]", rows) \
  TENON_TERM(k2, ",%[w_row],2", rows) TENON_TERM(k3, ",%[w_row3]", rows) \
  "add %[ahead_step], %[ahead]\n\t" \
  "lea (%[w],%[w_row],4), %[w]\n\t" \
  "lea (%[w_second],%[w_row],4), %[w_second]\n\t"
#define TENON_ROW_SUMS(rows) \
  asm volatile(TENON_CLEAR_SUMS \
               ".p2align 5\n" \
               "1:\n\t" \
               TENON_FOUR_TERMS("0", "4", "8", "12", rows) \
               TENON_FOUR_TERMS("16", "20", "24", "28", rows) \
               "add %[a_step], %[a]\n\t" \
               "add %[a_step], %[a3]\n\t" \
               "dec %[steps]\n\t" \
               "jnz 1b\n\t" \
               TENON_STORE_SUMS \
               : [a] "+r"(a), [a3] "+r"(a3), [w] "+r"(w), [w_second] "+r"(w_second), \
                 [ahead] "+r"(ahead), [steps] "+r"(steps) \
               : [a_row] "r"(s.a_row), [a_step] "r"(s.a_step), [w_row] "r"(s.w_row), \
                 [w_row3] "r"(3 * s.w_row), [ahead_step] "r"(s.ahead_step), [sums] "r"(s.sums) \
               : TENON_SUMS_CLOBBERED)
// clang-format on

template <size_t rows>
__attribute__((target("avx2,fma"))) inline void ComputeRowSums(const RowSums& s) {
  static_assert(rows >= 4 && rows <= 6);
  const char *a = reinterpret_cast<const char*>(s.a), *a3 = a + 3 * s.a_row;
  const float *w = s.w, *w_second = s.w_second;
  const void* ahead = s.ahead;
  size_t steps = s.steps;
  if constexpr (rows == 4) TENON_ROW_SUMS(TENON_ROWS_4);
  if constexpr (rows == 5) TENON_ROW_SUMS(TENON_ROWS_5);
  if constexpr (rows == 6) TENON_ROW_SUMS(TENON_ROWS_6);
}

// Sums of 4 rows by 24 columns, sums[4][24], over 4 * steps terms of w[k][24], which is dense.
struct WideSums {
  static constexpr size_t kStep = 4;  // terms
  const float* a;
  size_t a_stride;
  const float* w;  // at a multiple of 32 bytes, as sums are
  size_t steps;    // not 0
  float* sums;
};

// clang-format off
#define TENON_LOAD_24(at0, at1, at2) \
  TENON_LOAD_ROW(at0 "(%[w])", "12") TENON_LOAD_ROW(at1 "(%[w])", "13") \
  TENON_LOAD_ROW(at2 "(%[w])", "14")
#define TENON_ROWS_BY_24(row0, row1, row2, row3) \
  TENON_ADD_THREE(row0, "0", "1", "2") TENON_ADD_THREE(row1, "3", "4", "5") \
  TENON_ADD_THREE(row2, "6", "7", "8") TENON_ADD_THREE(row3, "9", "10", "11")
// `rows`: of a term; `advance`: to the next four.
#define TENON_WIDE_SUMS(rows, term0, term1, term2, term3, advance) \
  asm volatile(TENON_CLEAR_SUMS \
               ".p2align 5\n" \
               "1:\n\t" \
               TENON_LOAD_24("0", "32", "64") rows(term0) \
               TENON_LOAD_24("96", "128", "160") rows(term1) \
               TENON_LOAD_24("192", "224", "256") rows(term2) \
               TENON_LOAD_24("288", "320", "352") rows(term3) \
               advance "\n\t" \
               "add $384, %[w]\n\t" \
               "dec %[steps]\n\t" \
               "jnz 1b\n\t" \
               TENON_STORE_SUMS \
               : [a] "+r"(a), [w] "+r"(w), [steps] "+r"(steps) \
               : [stride] "r"(s.a_stride), [stride3] "r"(3 * s.a_stride), [sums] "r"(s.sums) \
               : TENON_SUMS_CLOBBERED)
#define TENON_ROWS_APART(k) \
  TENON_ROWS_BY_24(k "(%[a])", k "(%[a],%[stride])", k "(%[a],%[stride],2)", k "(%[a],%[stride3])")
#define TENON_ROWS_ADJACENT(index) \
  TENON_ROWS_BY_24("(%[a]" index ")", "4(%[a]" index ")", "8(%[a]" index ")", "12(%[a]" index ")")
// clang-format on

// The terms of a row lie side by side, rows are a_stride apart.
__attribute__((target("avx2,fma"))) inline void ComputeWideSumsOfRows(const WideSums& s) {
  const float *a = s.a, *w = s.w;
  size_t steps = s.steps;
  TENON_WIDE_SUMS(TENON_ROWS_APART, "0", "4", "8", "12", "add $16, %[a]");
}

// The rows of a term lie side by side, terms are a_stride apart.
__attribute__((target("avx2,fma"))) inline void ComputeWideSumsOfColumns(const WideSums& s) {
  const float *a = s.a, *w = s.w;
  size_t steps = s.steps;
  TENON_WIDE_SUMS(TENON_ROWS_ADJACENT, "", ",%[stride]", ",%[stride],2", ",%[stride3]",
                  "lea (%[a],%[stride],4), %[a]");
}

#undef TENON_LOAD_ROW
#undef TENON_ADD_PRODUCT
#undef TENON_ADD_TWO
#undef TENON_ADD_THREE
#undef TENON_CLEAR
#undef TENON_STORE
#undef TENON_CLEAR_SUMS
#undef TENON_STORE_SUMS
#undef TENON_SUMS_CLOBBERED
#undef TENON_ROWS_4
#undef TENON_ROWS_5
#undef TENON_ROWS_6
#undef TENON_TERM
#undef TENON_FOUR_TERMS
#undef TENON_ROW_SUMS
#undef TENON_LOAD_24
#undef TENON_ROWS_BY_24
#undef TENON_WIDE_SUMS
#undef TENON_ROWS_APART
#undef TENON_ROWS_ADJACENT

}  // namespace tenon

#endif  // TENON_KERNELS_SIMD_SUMS_AVX2_H_
