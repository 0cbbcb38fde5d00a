#include "tools/generate_at_once.h"

#include <algorithm>
#include <utility>

#include "absl/strings/strip.h"
#include "env/status.h"
#include "runtime/generate/token_inputs.h"
#include "tools/model_args.h"

namespace tenon {
namespace {

// Code points of UTF-8; a byte that does not belong there counts as one.
int64_t Characters(absl::string_view text) {
  int64_t count = 0;
  int to_follow = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80 && to_follow > 0) {
      --to_follow;
      continue;
    }
    ++count;
    to_follow = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
  }
  return count;
}

bool IsMask(const TensorInfo& info) { return UsualRole(info.name) == TokenRole::kMask; }

// How many tokens the model takes in a row: the prompt, and if its own mask says which of the
// tokens it gives count, room for new ones.
int64_t RowLength(const Session& session, int64_t prompt, int64_t max_tokens) {
  for (const TensorInfo& mask : session.inputs()) {
    if (!IsMask(mask) || !FindByName(session.outputs(), mask.name)) continue;
    const int64_t fixed =
        mask.shape.has_rank() && mask.shape.rank() > 0 ? mask.shape.dim(mask.shape.rank() - 1) : -1;
    return fixed >= prompt ? fixed : prompt + max_tokens;
  }
  return prompt;
}

// Adds the prompt, and what follows from it, to the inputs that are given.
absl::Status FillInputs(const Session& session, const Prompt& prompt, int64_t max_tokens,
                        std::vector<NamedTensor>& inputs) {
  const auto is_given = [&](const TensorInfo& info) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const NamedTensor& n) { return n.first == info.name; });
  };
  const auto size = static_cast<int64_t>(prompt.ids.size());
  std::vector<int64_t> ids = prompt.ids, mask(prompt.ids.size(), 1);
  ids.resize(static_cast<size_t>(RowLength(session, size, max_tokens)), 0);
  mask.resize(ids.size(), 0);
  for (const TensorInfo& info : session.inputs()) {
    if (is_given(info) || info.optional) continue;
    if (info.dtype == DType::kString && !prompt.text.empty()) {
      inputs.emplace_back(info.name, StringTensor(info, prompt.text));
    } else if (prompt.ids.empty() || !info.shape.has_rank() || info.shape.rank() == 0) {
      continue;
    } else if (IsTokenDType(info.dtype)) {
      TENON_ASSIGN_OR_RETURN(Tensor value, TokenTensor(info, IsMask(info) ? mask : ids));
      inputs.emplace_back(info.name, std::move(value));
    } else if (info.dtype == DType::kBool && IsMask(info)) {
      Tensor value = Tensor::From<bool>(Shape({1, static_cast<int64_t>(mask.size())}),
                                        std::vector<bool>(mask.begin(), mask.end()));
      inputs.emplace_back(info.name, std::move(value));
    }
  }
  return absl::OkStatus();
}

// The tokens of an output that count, by the mask among the outputs.
absl::StatusOr<std::vector<int64_t>> TokensOf(const Tensor& tensor,
                                              const std::vector<NamedTensor>& outputs) {
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> tokens, IdsOf(tensor));
  for (const auto& [name, mask] : outputs) {
    if (UsualRole(name) != TokenRole::kMask || mask.shape() != tensor.shape()) continue;
    std::vector<int64_t> counted;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const bool counts = mask.dtype() == DType::kBool    ? mask.data<bool>()[at]
                          : mask.dtype() == DType::kInt32 ? mask.data<int32_t>()[at] != 0
                          : mask.dtype() == DType::kInt64 ? mask.data<int64_t>()[at] != 0
                                                          : true;
      if (counts) counted.push_back(tokens[i]);
    }
    return counted;
  }
  return tokens;
}

// Most such models give the prompt, too.
void RemovePrompt(const std::vector<int64_t>& prompt, std::vector<int64_t>& tokens) {
  if (tokens.size() < prompt.size()) return;
  if (!std::equal(prompt.begin(), prompt.end(), tokens.begin())) return;
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size()));
}

}  // namespace

absl::StatusOr<GenerationResult> GenerateAtOnce(Session& session, Prompt prompt,
                                                std::vector<NamedTensor> inputs, int64_t max_tokens,
                                                const TextModel* tokenizer) {
  TENON_RETURN_IF_ERROR(FillInputs(session, prompt, max_tokens, inputs));
  GenerationResult result;
  const double start = NowMs();
  TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs,
                         session.Run(inputs, {.observer = &result.loop}));
  result.total_ms = NowMs() - start;
  for (const auto& [name, tensor] : outputs) {
    if (tensor.dtype() == DType::kString) {
      const auto strings = tensor.flat<std::string>();
      result.text.assign(strings.begin(), strings.end());
      break;
    }
    const bool tokens = IsTokenDType(tensor.dtype()) && tensor.shape().rank() > 0;
    if (!tokens || UsualRole(name) == TokenRole::kMask) continue;
    TENON_ASSIGN_OR_RETURN(result.tokens, TokensOf(tensor, outputs));
    break;
  }
  if (!result.text.empty()) {
    result.tokens.reset();
    if (tokenizer != nullptr && result.text.size() == 1) {
      TENON_ASSIGN_OR_RETURN(result.tokens, tokenizer->Ids(result.text[0]));
    } else {
      result.characters = 0;
      for (absl::string_view text : result.text) {
        absl::ConsumePrefix(&text, prompt.text);
        *result.characters += Characters(text);
      }
    }
  } else if (!result.tokens) {
    return InvalidArgument("the signature gives neither logits, nor token ids, nor text");
  }
  if (result.tokens) RemovePrompt(prompt.ids, *result.tokens);
  result.prompt = std::move(prompt.ids);
  return result;
}

}  // namespace tenon
