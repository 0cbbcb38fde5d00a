// Scaled dot-product attention over labeled dimensions, as in Einsum:
//
//   scores = sum over d of q * k, times a scale, changed by steps (masks, conditions)
//   out    = sum over keys of softmax(scores) * v
//
// "bqhd,bkhd,bkhe->bqhe" with scores "bhqk" is the attention of heads that lie side by side in the
// rows of q, k and v; the softmax is over the last label of the scores. A digit instead of a label
// is an index: "bq0hd,bk1hd,bk2he->bqhe" reads three parts of one tensor. Extents of 1 broadcast.
// Masks and conditions are broadcast to the scores as in NumPy. A `repeated` label of k and v may
// have an extent that divides that of q: consecutive heads of q share one of k and v.
#ifndef TENON_KERNELS_ATTENTION_ATTENTION_H_
#define TENON_KERNELS_ATTENTION_ATTENTION_H_

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attr_reader.h"
#include "kernels/interface/kernel.h"

namespace tenon {

inline constexpr int kMaxAttentionInputs = 8;  // q, k, v, masks, conditions
inline constexpr size_t kMaxAttentionSteps = 12;

// What happens to the scores, in order.
struct AttentionStep {
  enum class Kind {
    kAdd,        // "Add": + the next mask
    kSubtract,   // "Sub": - the next mask
    kMultiply,   // "Mul": * the next mask
    kSelect,     // "Select": the next value where the next condition is false
    kSelectNot,  // "SelectNot": the next value where it is true
    kScale,      // "Scale": * the next value
    kTanh,       // "Tanh"
  };
  Kind kind = Kind::kAdd;
  int input = -1;
  float value = 0;

  bool selects() const { return kind == Kind::kSelect || kind == Kind::kSelectNot; }
};

// The attributes equation, scores, repeated, scale, steps, values, num_masks, num_conditions,
// zero_hidden: whether a query from which the last step, a selection, hides all keys has zeros as
// its result, and not the mean of the values.
struct AttentionSpec {
  std::array<std::string, 3> operands;  // labels and digits of q, k, v
  std::string out, scores, repeated;
  char depth = 0, width = 0, key = 0;  // d, e, k of the example
  float scale = 1;
  std::vector<AttentionStep> steps;
  int num_inputs = 3;
  bool zero_hidden = false;
};
absl::StatusOr<AttentionSpec> ParseAttention(const AttrReader& attrs);

// The output's shape, as far as the inputs' shapes tell.
absl::StatusOr<Shape> AttentionShape(const AttentionSpec& spec, absl::Span<const Shape> inputs);

// One dimension: strides in elements, 0 for a tensor that is broadcast along it.
struct AttentionDim {
  static constexpr size_t kOut = kMaxAttentionInputs;
  int64_t extent = 1;
  std::array<int64_t, kMaxAttentionInputs + 1> stride{};  // of the inputs, then of the output
};

// The spec for given shapes. `rows` is the dimension of the queries that share keys and values.
struct AttentionProblem {
  absl::InlinedVector<AttentionDim, 6> batch;
  AttentionDim rows, keys;
  int64_t depth = 0, width = 0;
  int64_t q_depth = 1, k_depth = 1, v_width = 1, out_width = 1;  // strides
  std::array<int64_t, 3> offset{};                               // from digits
  float scale = 1;
  std::vector<AttentionStep> steps;
  int num_inputs = 3;
  // Queries whose largest score is not above it have zeros as their result. NaN: none.
  float zero_up_to = std::numeric_limits<float>::quiet_NaN();

  int64_t batches() const;
  // Adds the offsets of batch index `i` to `at`, for each input and the output.
  void Locate(int64_t i, std::array<int64_t, kMaxAttentionInputs + 1>& at) const;
};
absl::StatusOr<AttentionProblem> MakeAttentionProblem(const AttentionSpec& spec,
                                                      absl::Span<const Shape> inputs,
                                                      const Shape& out);

// half, bfloat16, float, double: plain loops that compute in double.
absl::StatusOr<std::unique_ptr<Kernel>> AttentionReference(PrepareContext& p);
// float and bfloat16: blocks of queries and keys, so that scores stay in the cache and memory is
// linear in the lengths. Blocks that masks hide entirely are skipped, unless NaN must be kept
// (TENON_STRICT_NAN): in v, at hidden keys, it would otherwise reach the result.
absl::StatusOr<std::unique_ptr<Kernel>> AttentionVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_ATTENTION_ATTENTION_H_
