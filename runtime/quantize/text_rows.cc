#include "runtime/quantize/text_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "env/status.h"
#include "runtime/generate/token_inputs.h"
#include "runtime/quantize/samples.h"

namespace tenon {
namespace {

constexpr int64_t kLength = 512;       // unless the model or the caller says
constexpr int64_t kBatchTokens = 512;  // logits are large: a number for each token and word
constexpr int64_t kBatchRows = 8;

// The token ids of the array, or of the only array of integers [texts, length].
absl::StatusOr<std::string> FindTokens(const std::vector<NamedTensor>& arrays,
                                       const std::string& name) {
  std::vector<std::string> found;
  for (const auto& [key, t] : arrays) {
    const bool integers = IsTokenDType(t.dtype());
    if (key == name && !(integers && t.shape().rank() == 2)) {
      return InvalidArgument("'", name, "' is not an array [texts, length] of token ids");
    }
    if ((name.empty() || key == name) && integers && t.shape().rank() == 2) found.push_back(key);
  }
  if (found.size() == 1) return found[0];
  if (!name.empty()) return NotFound("the text has no array '", name, "'");
  return InvalidArgument("the text has ", found.size(), " arrays [texts, length] of integers: say ",
                         "which one has the token ids");
}

absl::StatusOr<size_t> FindTokenInput(const std::vector<TensorInfo>& inputs,
                                      const std::string& wanted) {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TokenRole role = UsualRole(inputs[i].name);
    const bool other = role == TokenRole::kOther && !inputs[i].optional;
    if (IsTokenDType(inputs[i].dtype) && (role == TokenRole::kTokens || other)) {
      candidates.push_back(i);
    }
  }
  return tenon::FindTokenInput(inputs, wanted, candidates);
}

// [rows, length]: 1 for the first `sizes` of each row, 0 for the rest.
absl::StatusOr<Tensor> MaskTensor(DType dtype, int64_t length, absl::Span<const int64_t> sizes) {
  TENON_ASSIGN_OR_RETURN(Tensor mask,
                         Filled(dtype, Shape({static_cast<int64_t>(sizes.size()), length}), 1, 0));
  const size_t bytes = SizeOf(dtype), row = static_cast<size_t>(length) * bytes;
  for (size_t r = 0; r < sizes.size(); ++r) {
    const size_t used = static_cast<size_t>(sizes[r]) * bytes;
    std::memset(static_cast<char*>(mask.raw()) + r * row + used, 0, row - used);
  }
  return mask;
}

// A text in rows, and the inputs for any of them.
class RowCutter {
 public:
  static absl::StatusOr<RowCutter> Create(absl::Span<const int64_t> ids,
                                          const std::vector<TensorInfo>& inputs,
                                          const TextRowOptions& options) {
    RowCutter cutter;
    cutter.ids_ = ids;
    TENON_ASSIGN_OR_RETURN(const size_t tokens, FindTokenInput(inputs, options.tokens));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TokenRole role = i == tokens ? TokenRole::kTokens : UsualRole(inputs[i].name);
      TENON_RETURN_IF_ERROR(cutter.AddInput(inputs[i], role, i == tokens));
    }
    TENON_RETURN_IF_ERROR(cutter.SetSizes(options));
    return cutter;
  }

  int64_t num_batches() const { return (rows_ + batch_ - 1) / batch_ + (has_short_run_ ? 1 : 0); }

  absl::StatusOr<TextBatch> Batch(int64_t b) const {
    const bool is_short = has_short_run_ && b == num_batches() - 1;
    const int64_t first = is_short ? rows_ : b * batch_;
    const int64_t given = is_short ? 1 : std::min(batch_, rows_ - first);
    const int64_t rows = fixed_batch_ ? batch_ : given;
    const auto end = static_cast<int64_t>(ids_.size());
    const int64_t length = is_short ? end - first * length_ : length_;
    TextBatch made;
    made.shape = Shape({rows, length});
    made.ids.assign(static_cast<size_t>(rows * length), 0);
    std::vector<int64_t> sizes;  // of each row, without padding
    for (int64_t r = 0; r < rows; ++r) {
      // Rows that fill the batch repeat the last one, and do not count.
      const int64_t start = (first + std::min(r, given - 1)) * length_;
      sizes.push_back(std::min(length, end - start));
      made.lengths.push_back(r < given ? sizes.back() : 0);
      std::copy_n(ids_.begin() + start, sizes.back(), made.ids.begin() + r * length);
    }
    for (const Input& input : inputs_) {
      absl::StatusOr<Tensor> value = Value(input, made, sizes);
      if (!value.ok())
        return Annotate(value.status(), absl::StrCat("input '", input.info.name, "'"));
      made.inputs.emplace_back(input.info.name, *std::move(value));
    }
    return made;
  }

 private:
  struct Input {
    TensorInfo info;
    TokenRole role;
  };

  absl::Status AddInput(const TensorInfo& info, TokenRole role, bool is_tokens) {
    if (role == TokenRole::kOther || (role == TokenRole::kTokens && !is_tokens)) {
      if (info.optional) return absl::OkStatus();
      return InvalidArgument("input '", info.name, "' does not follow from a text: give arrays of ",
                             "all inputs instead");
    }
    if (role != TokenRole::kPositions && info.shape.has_rank() && info.shape.rank() != 2) {
      return InvalidArgument("input '", info.name, "' has shape ", info.shape.ToString(),
                             "; for a text it must be [texts, length]");
    }
    inputs_.push_back({info, role});
    return absl::OkStatus();
  }

  // A size that an input of all tokens fixes.
  std::optional<int64_t> FixedSize(int axis) const {
    for (const Input& input : inputs_) {
      const Shape& shape = input.info.shape;
      if (input.role == TokenRole::kPositions || !shape.has_rank()) continue;
      if (shape.dim(axis) >= 0) return shape.dim(axis);
    }
    return std::nullopt;
  }

  absl::Status SetSizes(const TextRowOptions& options) {
    const std::optional<int64_t> length = FixedSize(1), batch = FixedSize(0);
    if (length && options.length > 0 && options.length != *length) {
      return InvalidArgument("the model takes rows of ", *length, " tokens, not of ",
                             options.length);
    }
    if (batch && options.batch > 0 && options.batch != *batch) {
      return InvalidArgument("the model takes batches of ", *batch, ", not ", options.batch);
    }
    length_ = length ? *length : options.length > 0 ? options.length : kLength;
    if (length_ < 2) return InvalidArgument("rows of ", length_, " tokens predict nothing");
    const int64_t fitting = std::clamp<int64_t>(kBatchTokens / length_, 1, kBatchRows);
    batch_ = batch ? *batch : options.batch > 0 ? options.batch : fitting;
    if (batch_ < 1) return InvalidArgument("the model takes batches of ", batch_);
    fixed_batch_ = batch.has_value();
    if (ids_.size() < 2) {
      return InvalidArgument("a text of ", ids_.size(), " tokens predicts nothing");
    }
    const auto count = static_cast<int64_t>(ids_.size());
    rows_ = count / length_;
    if (count % length_ < 2) {
      ids_ = ids_.first(static_cast<size_t>(rows_ * length_));
    } else if (length) {
      ++rows_;
    } else {
      has_short_run_ = true;
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<Tensor> Value(const Input& input, const TextBatch& batch,
                                      absl::Span<const int64_t> sizes) {
    const int64_t rows = batch.shape[0], length = batch.shape[1];
    switch (input.role) {
      case TokenRole::kTokens:
        return TokenTensor(input.info, batch.shape, batch.ids);
      case TokenRole::kPositions:
        return PositionTensor(input.info, rows, length, 0);
      case TokenRole::kMask:
        return MaskTensor(input.info.dtype, length, sizes);
      case TokenRole::kTypes:
        return Filled(input.info.dtype, batch.shape, 0, 0);
      case TokenRole::kOther:
        break;
    }
    return Internal("it has no role");
  }

  absl::Span<const int64_t> ids_;
  std::vector<Input> inputs_;
  int64_t length_ = 0, batch_ = 0;
  bool fixed_batch_ = false;
  int64_t rows_ = 0;  // of the length, the last one perhaps padded
  bool has_short_run_ = false;
};

}  // namespace

absl::StatusOr<TextRows> RowsOfArrays(std::vector<NamedTensor> arrays,
                                      const std::vector<TensorInfo>& inputs,
                                      const std::string& tokens, int64_t batch) {
  TENON_ASSIGN_OR_RETURN(const std::string key, FindTokens(arrays, tokens));
  TENON_ASSIGN_OR_RETURN(Samples made, Samples::Create(std::move(arrays), inputs, batch));
  if (!FindByName(inputs, key)) return InvalidArgument("the model has no input '", key, "'");
  const auto texts = std::make_shared<const Samples>(std::move(made));
  return TextRows{texts->num_batches(), [texts, key](int64_t b) -> absl::StatusOr<TextBatch> {
                    TextBatch rows;
                    rows.inputs = texts->Batch(b);
                    for (const auto& [name, tensor] : rows.inputs) {
                      if (name != key) continue;
                      rows.shape = tensor.shape();
                      TENON_ASSIGN_OR_RETURN(rows.ids, IntegerValues(tensor));
                    }
                    rows.lengths.assign(static_cast<size_t>(rows.shape[0]), rows.shape[1]);
                    return rows;
                  }};
}

absl::StatusOr<TextRows> RowsOfText(absl::Span<const int64_t> ids,
                                    const std::vector<TensorInfo>& inputs,
                                    const TextRowOptions& options) {
  TENON_ASSIGN_OR_RETURN(RowCutter made, RowCutter::Create(ids, inputs, options));
  const auto cutter = std::make_shared<const RowCutter>(std::move(made));
  return TextRows{cutter->num_batches(), [cutter](int64_t b) { return cutter->Batch(b); }};
}

}  // namespace tenon
