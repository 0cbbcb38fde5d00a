#include "runtime/generate/token_inputs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/status.h"

namespace tenon {
namespace {

struct UsualName {
  absl::string_view name;
  TokenRole role;
};
constexpr UsualName kUsualNames[] = {
    {"input_ids", TokenRole::kTokens},
    {"token_ids", TokenRole::kTokens},
    {"tokens", TokenRole::kTokens},
    {"ids", TokenRole::kTokens},
    {"inputs", TokenRole::kTokens},
    {"input_word_ids", TokenRole::kTokens},
    {"position", TokenRole::kPositions},
    {"positions", TokenRole::kPositions},
    {"position_ids", TokenRole::kPositions},
    {"start", TokenRole::kPositions},
    {"past_length", TokenRole::kPositions},
    {"start_index", TokenRole::kPositions},
    {"cache_position", TokenRole::kPositions},
    {"cache_index", TokenRole::kPositions},
    {"index", TokenRole::kPositions},
    {"attention_mask", TokenRole::kMask},
    {"padding_mask", TokenRole::kMask},
    {"input_mask", TokenRole::kMask},
    {"token_type_ids", TokenRole::kTypes},
    {"segment_ids", TokenRole::kTypes},
    {"input_type_ids", TokenRole::kTypes},
};

template <typename T>
void Fill(Tensor& out, int64_t row, int64_t first, int64_t step) {
  T* data = out.data<T>();
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    data[i] = static_cast<T>(first + i % row * step);
  }
}

}  // namespace

TokenRole UsualRole(absl::string_view name) {
  for (const UsualName& usual : kUsualNames) {
    if (usual.name == name) return usual.role;
  }
  return TokenRole::kOther;
}

std::optional<size_t> FindByName(const std::vector<TensorInfo>& infos, absl::string_view name) {
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) return i;
  }
  return std::nullopt;
}

std::string ListOf(const std::vector<TensorInfo>& infos) {
  return absl::StrJoin(infos, ", ", [](std::string* out, const TensorInfo& info) {
    absl::StrAppend(out, info.name, " (", Name(info.dtype), " ", info.shape.ToString(), ")");
  });
}

absl::StatusOr<size_t> FindIntegerInput(const std::vector<TensorInfo>& inputs,
                                        const std::string& wanted) {
  const std::optional<size_t> found = FindByName(inputs, wanted);
  if (!found) {
    return InvalidArgument("the model has no input '", wanted, "'; it takes ", ListOf(inputs));
  }
  if (!IsTokenDType(inputs[*found].dtype)) {
    return InvalidArgument("input '", wanted, "' is ", Name(inputs[*found].dtype),
                           "; token ids and positions are int32 or int64");
  }
  return *found;
}

absl::StatusOr<size_t> FindTokenInput(const std::vector<TensorInfo>& inputs,
                                      const std::string& wanted,
                                      absl::Span<const size_t> candidates) {
  if (!wanted.empty()) return FindIntegerInput(inputs, wanted);
  const auto usual = std::find_if(candidates.begin(), candidates.end(), [&](size_t i) {
    return UsualRole(inputs[i].name) == TokenRole::kTokens;
  });
  if (usual != candidates.end()) return *usual;
  if (candidates.size() == 1) return candidates[0];
  return InvalidArgument("which input takes the tokens is not clear; name it. The model takes ",
                         ListOf(inputs));
}

absl::StatusOr<Tensor> TokenTensor(const TensorInfo& input, const Shape& shape,
                                   absl::Span<const int64_t> tokens) {
  if (!IsTokenDType(input.dtype)) {
    return InvalidArgument("input '", input.name, "' is ", Name(input.dtype),
                           "; token ids are int32 or int64");
  }
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(input.dtype, shape));
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (input.dtype == DType::kInt64) {
      out.data<int64_t>()[i] = tokens[i];
    } else if (tokens[i] == static_cast<int32_t>(tokens[i])) {
      out.data<int32_t>()[i] = static_cast<int32_t>(tokens[i]);
    } else {
      return InvalidArgument("token ", tokens[i], " does not fit into int32");
    }
  }
  return out;
}

absl::StatusOr<Tensor> TokenTensor(const TensorInfo& input, absl::Span<const int64_t> tokens) {
  const int rank = input.shape.has_rank() ? input.shape.rank() : 2;
  const auto count = static_cast<int64_t>(tokens.size());
  if (rank == 0 && count != 1) {
    return InvalidArgument("input '", input.name, "' takes one token, but there are ", count);
  }
  const Shape shape = rank == 0 ? Shape() : rank == 1 ? Shape({count}) : Shape({1, count});
  return TokenTensor(input, shape, tokens);
}

absl::StatusOr<Tensor> PositionTensor(const TensorInfo& input, int64_t rows, int64_t count,
                                      int64_t first) {
  // One number is where the tokens start, several are the place of each.
  Shape shape;
  if (input.shape.has_rank() && input.shape.rank() > 0) {
    const int rank = input.shape.rank();
    if (rank > 1) shape.push_back(input.shape.dim(0) == 1 ? 1 : rows);
    shape.push_back(input.shape.dim(rank - 1) == 1 ? 1 : count);
  }
  return Filled(input.dtype, shape, first, 1);
}

absl::StatusOr<Tensor> Filled(DType dtype, const Shape& shape, int64_t first, int64_t step) {
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(dtype, shape));
  const int64_t row = shape.rank() == 0 ? 1 : shape.dim(shape.rank() - 1);
  switch (dtype) {
    case DType::kBool:
      Fill<bool>(out, row, first, step);
      break;
    case DType::kInt32:
      Fill<int32_t>(out, row, first, step);
      break;
    case DType::kInt64:
      Fill<int64_t>(out, row, first, step);
      break;
    case DType::kFloat:
      Fill<float>(out, row, first, step);
      break;
    default:
      return InvalidArgument(Name(dtype), " is no dtype of masks, positions or token types");
  }
  return out;
}

}  // namespace tenon
