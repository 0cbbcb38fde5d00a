#include "kernels/text/split_characters.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "kernels/ragged/nested_splits.h"
#include "kernels/text/characters.h"
#include "kernels/text/rows.h"

namespace tenon {
namespace {

struct CharacterTokens {
  std::vector<int32_t> characters;
  std::vector<int64_t> splits;  // of the characters
  std::vector<int64_t> starts, limits;
};

// What a character is to the tokenizer: whether it is left out, and a kind; tokens end where the
// kind changes.
struct Kind {
  bool skipped;
  int kind;
};

// A token keeps skipped characters in its middle out of its text, but not out of its range.
template <typename KindOf>
void AddRow(const int32_t* row, int64_t size, KindOf kind_of, CharacterTokens& to) {
  std::optional<int> last;
  bool open = false;
  int64_t skipped = 0;  // since the last character of a token
  for (int64_t i = 0; i < size; ++i) {
    const Kind kind = kind_of(row[i]);
    if (last != kind.kind) {
      if (open) to.limits.push_back(i - skipped);
      open = false;
      last = kind.kind;
    }
    if (kind.skipped) {
      ++skipped;
      continue;
    }
    if (!open) {
      to.starts.push_back(i);
      to.splits.push_back(std::ssize(to.characters));
      open = true;
    }
    to.characters.push_back(row[i]);
    skipped = 0;
  }
  if (open) to.limits.push_back(size - skipped);
}

template <typename KindOf>
absl::StatusOr<std::unique_ptr<Kernel>> Split(PrepareContext& p, KindOf kind_of) {
  const int64_t n = p.input_shape(0).num_elements(), size = p.input_shape(1).num_elements();
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(1), [&]<typename I>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const NestedSplits nested,
                             ReadSplits(run, DTypeTraits<I>::value, {size}, n, false, 1));
      const std::vector<int64_t>& rows = nested[0];
      std::vector<CharacterTokens> tokens(1);
      I* outer = run.output<I>(4);
      for (size_t r = 0; r + 1 < rows.size(); ++r) {
        outer[r] = static_cast<I>(tokens[0].starts.size());
        AddRow(run.input<int32_t>(0) + rows[r], rows[r + 1] - rows[r], kind_of, tokens[0]);
      }
      outer[rows.size() - 1] = static_cast<I>(tokens[0].starts.size());
      tokens[0].splits.push_back(std::ssize(tokens[0].characters));
      TENON_RETURN_IF_ERROR(WriteParts<int32_t>(run, 0, tokens, &CharacterTokens::characters));
      TENON_RETURN_IF_ERROR(WriteParts<I>(run, 1, tokens, &CharacterTokens::splits));
      TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 2, tokens, &CharacterTokens::starts));
      return WriteParts<int64_t>(run, 3, tokens, &CharacterTokens::limits);
    });
  });
}

}  // namespace

void AddWords(absl::string_view text, absl::string_view bits, Words& to) {
  const int32_t size = static_cast<int32_t>(text.size());
  const size_t before = to.words.size();
  int32_t start = -1;
  auto add = [&](int32_t end) {
    to.words.push_back(text.substr(static_cast<size_t>(start), static_cast<size_t>(end - start)));
    to.starts.push_back(start);
    to.limits.push_back(end);
    start = -1;
  };
  for (int32_t at = 0; at < size;) {
    const int32_t begin = at;
    UChar32 c;
    U8_NEXT(text.data(), at, size, c);
    const size_t byte = static_cast<size_t>(c) >> 3;
    if (c >= 0 && byte < bits.size() && (bits[byte] >> (c & 7) & 1) != 0) {
      if (start >= 0) add(at - 1);
    } else if (start < 0) {
      start = begin;
    }
  }
  if (start >= 0) add(size);
  to.counts.push_back(static_cast<int64_t>(to.words.size() - before));
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitAtSpaceKernel(PrepareContext& p) {
  return Split(p, [](int32_t c) {
    const bool space = IsSpace(c);
    return Kind{space, space ? 1 : 0};
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitAtScriptKernel(PrepareContext& p) {
  const bool keep = p.attrs().Bool("keep_whitespace", false);
  return Split(p, [keep](int32_t c) {
    const bool space = IsSpace(c);
    return Kind{space && !keep, 2 * ScriptOf(c) + (space && keep ? 1 : 0)};
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitAtBitsKernel(PrepareContext& p) {
  const size_t n = static_cast<size_t>(p.input_shape(0).num_elements());
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const absl::Span<const std::string> texts(run.input<std::string>(0), n);
    const absl::string_view bits = *run.input<std::string>(1);
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Words> parts,
        InParts<Words>(threads, std::ssize(texts), RowCost(texts, 3), [&](Words& part, int64_t i) {
          AddWords(texts[static_cast<size_t>(i)], bits, part);
          return absl::OkStatus();
        }));
    TENON_RETURN_IF_ERROR(WriteParts<std::string>(run, 0, parts, &Words::words));
    WriteSplits(parts, &Words::counts, run.output<int64_t>(1));
    TENON_RETURN_IF_ERROR(WriteParts<int32_t>(run, 2, parts, &Words::starts));
    return WriteParts<int32_t>(run, 3, parts, &Words::limits);
  });
}

}  // namespace tenon
