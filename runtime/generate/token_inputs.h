// The inputs of a language model: which of them takes the token ids, and the values of those that
// follow from these: positions, masks and token types.
//
//   TENON_ASSIGN_OR_RETURN(size_t tokens, FindTokenInput(session.inputs(), "", candidates));
//   TENON_ASSIGN_OR_RETURN(Tensor mask, Filled(info.dtype, Shape({rows, n}), 1, 0));
#ifndef TENON_RUNTIME_GENERATE_TOKEN_INPUTS_H_
#define TENON_RUNTIME_GENERATE_TOKEN_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/session/session.h"

namespace tenon {

// Whether token ids can have this dtype.
inline bool IsTokenDType(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

// What an input or output of a language model is, by its usual name.
enum class TokenRole {
  kTokens,     // input_ids, token_ids, input_word_ids, tokens, ids, inputs
  kPositions,  // of each token, or of the first one: position_ids, position, start, ...
  kMask,       // 1 for tokens, 0 for padding: attention_mask, padding_mask, input_mask
  kTypes,      // token_type_ids, segment_ids, input_type_ids
  kOther,
};
TokenRole UsualRole(absl::string_view name);

std::optional<size_t> FindByName(const std::vector<TensorInfo>& infos, absl::string_view name);
// "a (int32 [1,?]), b (float [])".
std::string ListOf(const std::vector<TensorInfo>& infos);

// The input named `wanted`; if that is empty, the candidate with a usual name, or the only
// candidate. `candidates`: inputs that take integers and nothing else that is known.
// InvalidArgument if there is no such input, or it does not take integers.
absl::StatusOr<size_t> FindTokenInput(const std::vector<TensorInfo>& inputs,
                                      const std::string& wanted,
                                      absl::Span<const size_t> candidates);
// Index of the input `wanted`, which takes token ids or positions.
absl::StatusOr<size_t> FindIntegerInput(const std::vector<TensorInfo>& inputs,
                                        const std::string& wanted);

// Token ids in the dtype of an input. InvalidArgument if the input does not take token ids, or one
// does not fit into its dtype.
absl::StatusOr<Tensor> TokenTensor(const TensorInfo& input, const Shape& shape,
                                   absl::Span<const int64_t> tokens);
// The same in the rank of the input: [], [tokens] or [1, tokens]. InvalidArgument also if it does
// not take that many.
absl::StatusOr<Tensor> TokenTensor(const TensorInfo& input, absl::Span<const int64_t> tokens);

// Positions `first`, `first` + 1, ... of `count` tokens in each of `rows` sequences, in the form
// that the input takes: [], [1] or [rows, 1], where the tokens start, or [count], [1, count] or
// [rows, count], the place of each.
absl::StatusOr<Tensor> PositionTensor(const TensorInfo& input, int64_t rows, int64_t count,
                                      int64_t first);

// `first`, `first` + `step`, ... along the last axis of `shape`, the same in each row.
// InvalidArgument unless `dtype` is bool, int32, int64 or float.
absl::StatusOr<Tensor> Filled(DType dtype, const Shape& shape, int64_t first, int64_t step);

}  // namespace tenon

#endif  // TENON_RUNTIME_GENERATE_TOKEN_INPUTS_H_
