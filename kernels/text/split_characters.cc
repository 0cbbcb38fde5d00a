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
  std::vector<int64_t> sizes;  // in characters
  std::vector<int64_t> starts, limits;
  std::vector<int64_t> counts;  // of the rows' tokens
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
  const int64_t before = std::ssize(to.starts);
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
      to.sizes.push_back(0);
      open = true;
    }
    ++to.sizes.back();
    to.characters.push_back(row[i]);
    skipped = 0;
  }
  if (open) to.limits.push_back(size - skipped);
  to.counts.push_back(std::ssize(to.starts) - before);
}

template <typename KindOf>
absl::StatusOr<std::unique_ptr<Kernel>> Split(PrepareContext& p, KindOf kind_of) {
  const int64_t n = p.input_shape(0).num_elements(), size = p.input_shape(1).num_elements();
  const int threads = p.services().threads;
  return DispatchType(TypeList<int32_t, int64_t>{}, p.input_dtype(1), [&]<typename I>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const NestedSplits nested,
                             ReadSplits(run, DTypeTraits<I>::value, {size}, n, false, 1));
      const std::vector<int64_t>& rows = nested[0];
      const auto of_row = [&](CharacterTokens& part, int64_t i) {
        const auto r = static_cast<size_t>(i);
        AddRow(run.input<int32_t>(0) + rows[r], rows[r + 1] - rows[r], kind_of, part);
        return absl::OkStatus();
      };
      const int64_t count = std::ssize(rows) - 1;
      constexpr double kNs = 8;  // of a character
      const double row_ns =
          20 + kNs * static_cast<double>(n) / static_cast<double>(std::max<int64_t>(count, 1));
      TENON_ASSIGN_OR_RETURN(const std::vector<CharacterTokens> tokens,
                             InParts<CharacterTokens>(threads, count, row_ns, of_row));
      int64_t all = 0;
      for (const CharacterTokens& part : tokens) all += std::ssize(part.starts);
      TENON_ASSIGN_OR_RETURN(void* splits, run.AllocateOutput(1, Shape({all + 1})));
      WriteSplits(tokens, &CharacterTokens::sizes, static_cast<I*>(splits));
      WriteSplits(tokens, &CharacterTokens::counts, run.output<I>(4));
      TENON_RETURN_IF_ERROR(WriteParts<int32_t>(run, 0, tokens, &CharacterTokens::characters));
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
