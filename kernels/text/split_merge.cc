#include "kernels/text/split_merge.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/text/characters.h"
#include "kernels/text/rows.h"
#include "kernels/text/sentencepiece_normalizer.h"

namespace tenon {
namespace {

struct Tokens {
  std::vector<std::string> tokens;
  std::vector<int64_t> starts, limits, counts;
};

bool IsBreak(absl::string_view character) {
  int32_t at = 0, c;
  U8_NEXT_OR_FFFD(character.data(), at, static_cast<int32_t>(character.size()), c);
  return IsSpace(c);
}

// splits(i): whether character i begins a token.
template <typename Splits>
absl::Status AddText(absl::string_view text, int64_t decisions, bool force, Splits splits,
                     Tokens& to) {
  std::vector<absl::string_view> characters;
  for (size_t at = 0; at < text.size(); at += characters.back().size()) {
    characters.push_back(text.substr(at, AnnouncedBytes(text[at])));
  }
  if (std::ssize(characters) > decisions) {
    return InvalidArgument(decisions, " labels or logits are too few for the text '", text, "'");
  }
  const size_t before = to.tokens.size();
  bool after_break = false;
  int64_t i = 0, at = 0;
  for (const absl::string_view character : characters) {
    const int64_t end = at + std::ssize(character);
    const bool is_break = IsBreak(character);
    if (!is_break) {
      if (splits(i) || to.tokens.size() == before || (after_break && force)) {
        to.tokens.emplace_back(character);
        to.starts.push_back(at);
        to.limits.push_back(end);
      } else {
        to.tokens.back().append(character.data(), character.size());
        to.limits.back() = end;
      }
    }
    after_break = is_break;
    at = end;
    ++i;
  }
  to.counts.push_back(static_cast<int64_t>(to.tokens.size() - before));
  return absl::OkStatus();
}

absl::Status Write(RunContext& run, const Tokens& tokens) {
  const std::vector<Tokens> parts = {tokens};
  TENON_RETURN_IF_ERROR(WriteParts<std::string>(run, 0, parts, &Tokens::tokens));
  WriteSplits(parts, &Tokens::counts, run.output<int64_t>(1));
  TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 2, parts, &Tokens::starts));
  return WriteParts<int64_t>(run, 3, parts, &Tokens::limits);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SplitByLabelsKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements(), labels = p.input_shape(1).num_elements();
  const bool force = p.attrs().Bool("force_split_at_break_character", true);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int32_t* rows = run.input<int32_t>(2);
    Tokens tokens;
    for (int64_t r = 0; r < n; ++r) {
      const int32_t begin = rows[r], end = rows[r + 1];
      if (begin < 0 || end < begin || end > labels) {
        return InvalidArgument("row splits must rise from 0 to the ", labels, " labels");
      }
      const int32_t* label = run.input<int32_t>(1) + begin;
      TENON_RETURN_IF_ERROR(AddText(
          run.input<std::string>(0)[r], end - begin, force,
          [=](int64_t i) { return label[i] == 0; }, tokens));
    }
    return Write(run, tokens);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitByLogitsKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements(), most = p.input_shape(1).dim(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const bool force = *run.input<bool>(2);
    Tokens tokens;
    for (int64_t r = 0; r < n; ++r) {
      const float* logits = run.input<float>(1) + r * most * 2;
      TENON_RETURN_IF_ERROR(AddText(
          run.input<std::string>(0)[r], most, force,
          [=](int64_t i) { return logits[2 * i] > logits[2 * i + 1]; }, tokens));
    }
    return Write(run, tokens);
  });
}

}  // namespace tenon
