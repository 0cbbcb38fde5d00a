// Vector loops of attention, for one batch index of an AttentionProblem.
#ifndef TENON_KERNELS_ATTENTION_ATTENTION_SIMD_H_
#define TENON_KERNELS_ATTENTION_ATTENTION_SIMD_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/layout/transpose_simd.h"
#include "kernels/matmul/row_product_simd.h"

namespace tenon {

// What a thread has in its scratch memory, from one task to the next.
struct AttentionState {
  // The masks whose transposed tiles are in scratch: data and first row.
  std::array<const void*, kMaxAttentionInputs> tiled{};
  std::array<int64_t, kMaxAttentionInputs> tiled_row{};
};

struct AttentionTask {
  const AttentionProblem* problem = nullptr;
  TransposeFn transpose = nullptr;
  RowProductFn multiply = nullptr;  // for AttentionKeys
  bool bfloat16 = false;
  bool tiles = false;  // AttentionBlocks of bfloat16: on matrix tiles
  bool skip = true;    // blocks of keys that are hidden from all queries
  std::array<const void*, kMaxAttentionInputs> inputs{};  // at this batch index
  void* out = nullptr;
  int64_t row_begin = 0, row_end = 0;
  int64_t key_begin = 0, key_end = 0;
  float* scratch = nullptr;
  AttentionState* state = nullptr;
  // AttentionRows only. Not null: for each row `width` sums of e^(score - largest) * v, the sum
  // of e^(score - largest), and the largest score, to be combined with those of other keys.
  float* partial = nullptr;
};

// Many queries, all keys. Tasks have at most `rows` queries and begin at a multiple of it.
struct AttentionBlocks {
  int64_t lanes = 1;  // queries in a vector
  void (*run)(const AttentionTask& task, int64_t rows) = nullptr;
  size_t (*scratch_floats)(const AttentionProblem& problem, int64_t rows, bool tiles) = nullptr;
};
AttentionBlocks FindAttentionBlocks();

// Many queries, few keys: all keys, in one block.
struct AttentionKeys {
  void (*run)(const AttentionTask& task) = nullptr;
  size_t (*scratch_floats)(const AttentionProblem& problem) = nullptr;
};
AttentionKeys FindAttentionKeys();

// Few queries. q, k and v have adjacent elements along depth and width.
struct AttentionRows {
  void (*run)(const AttentionTask& task) = nullptr;
  size_t (*scratch_floats)(const AttentionProblem& problem) = nullptr;
};
AttentionRows FindAttentionRows();

}  // namespace tenon

#endif  // TENON_KERNELS_ATTENTION_ATTENTION_SIMD_H_
