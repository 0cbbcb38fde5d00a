#include "kernels/text/sentences.h"

#include <unicode/utf8.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "kernels/text/characters.h"
#include "kernels/text/emoticons.h"
#include "kernels/text/rows.h"

namespace tenon {
namespace {

constexpr int64_t kEndsWithMark = 1, kSeveralMarks = 2, kClosed = 4, kOpenedAtBeginning = 8;
constexpr absl::string_view kDots = "...";
constexpr int32_t kEllipsis = 0x2026;

// What stands at one place of a text: a token, or some characters.
struct Unit {
  int64_t size = 1;
  bool ends = false;       // it may end a sentence
  bool ambiguous = false;  // it is an ellipsis or emoticon, which may as well be inside a sentence
  bool acronym = false;    // its own period may end a sentence
  bool closes = false;     // it is a closing parenthesis
};

// Where a fragment has its marks. All are its limit if it has none.
struct Ending {
  int64_t marks, closing, limit;
  bool has_marks() const { return marks < limit; }
};

template <typename UnitAt>
Ending FindEnding(int64_t begin, int64_t size, const UnitAt& unit_at) {
  int64_t at = begin;
  Unit unit;
  const auto next = [&] {
    at += unit.size;
    unit = at < size ? unit_at(at) : Unit{};
  };
  for (unit = unit_at(at); at < size && !unit.ends && !unit.acronym;) next();
  Ending ending = {at, at, at};
  if (at >= size) return ending;
  next();
  while (unit.ends) next();
  ending.closing = at;
  if (unit.closes) {
    next();
    while (unit.closes || unit.ambiguous) next();
  }
  ending.limit = at;
  return ending;
}

struct SentenceFragments {
  std::vector<int64_t> begins, ends, properties, marks, counts;

  void Add(int64_t begin, const Ending& ending, int64_t first_mark, int64_t other_properties) {
    begins.push_back(begin);
    ends.push_back(ending.limit);
    marks.push_back(ending.has_marks() ? first_mark : -1);
    int64_t p = 0;
    if (ending.has_marks()) p = kEndsWithMark | other_properties;
    if (ending.closing < ending.limit) p |= kClosed;
    properties.push_back(p);
  }
};

absl::Status WriteFragments(RunContext& run, const std::vector<SentenceFragments>& parts) {
  using F = SentenceFragments;
  TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 0, parts, &F::begins));
  TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 1, parts, &F::ends));
  TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 2, parts, &F::properties));
  TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 3, parts, &F::marks));
  int64_t* counts = run.output<int64_t>(4);
  for (const F& part : parts) counts = std::copy(part.counts.begin(), part.counts.end(), counts);
  return absl::OkStatus();
}

// The character that the text begins with, and its size. The text is not empty.
struct FirstCharacter {
  int32_t value, size = 0;
  explicit FirstCharacter(absl::string_view text) {
    U8_NEXT_OR_FFFD(text.data(), size, static_cast<int32_t>(std::min<size_t>(text.size(), 4)),
                    value);
  }
};

// The size of the ellipsis or emoticon that the text begins with, or 0.
int64_t AmbiguousSize(absl::string_view text) {
  if (absl::StartsWith(text, kDots)) return std::ssize(kDots);
  const FirstCharacter c(text);
  return c.value == kEllipsis ? c.size : static_cast<int64_t>(EmoticonSize(text));
}

// The size of an acronym of at least two letters, such as "U.S.", or 0.
int64_t AcronymSize(absl::string_view text) {
  size_t n = 0;
  while (n + 1 < text.size() && text[n] >= 'A' && text[n] <= 'Z' && text[n + 1] == '.') n += 2;
  return n > 2 ? static_cast<int64_t>(n) : 0;
}

Unit UnitOf(absl::string_view text) {
  const FirstCharacter c(text);
  Unit unit;
  unit.closes = IsClosingParenthesis(c.value);
  unit.ends = EndsSentence(c.value);
  if (unit.closes || unit.ends) unit.size = c.size;
  if (const int64_t size = AcronymSize(text); size > 0) {
    unit.acronym = true;
    unit.size = size;
  }
  if (const int64_t size = AmbiguousSize(text); size > 0) {
    unit.ends = unit.ambiguous = true;
    unit.size = size;
  }
  return unit;
}

void AddFragments(absl::string_view text, SentenceFragments& to) {
  const int64_t size = std::ssize(text);
  const auto from = [text](int64_t at) { return text.substr(static_cast<size_t>(at)); };
  const auto first_mark = [&](const Ending& e) {
    int64_t i = e.closing - 1;
    while (i > e.marks && AmbiguousSize(from(i)) == 0) --i;
    return std::max(i, e.marks);
  };
  const auto several = [&](const Ending& e) {
    int64_t i = e.marks + (e.has_marks() ? std::max<int64_t>(AmbiguousSize(from(e.marks)), 1) : 0);
    while (i < e.closing) {
      const int64_t ambiguous = AmbiguousSize(from(i));
      if (ambiguous == 0 && IsPunctuation(FirstCharacter(from(i)).value)) return true;
      i += std::max<int64_t>(ambiguous, 1);
    }
    return false;
  };
  const size_t before = to.begins.size();
  for (int64_t at = 0; at < size;) {
    if (IsSpace(FirstCharacter(from(at)).value)) {
      ++at;
      continue;
    }
    const Ending e = FindEnding(at, size, [&](int64_t i) { return UnitOf(from(i)); });
    to.Add(at, e, first_mark(e), several(e) ? kSeveralMarks : 0);
    at = e.limit;
  }
  to.counts.push_back(static_cast<int64_t>(to.begins.size() - before));
}

// A token and what its only character is, if it has one.
struct TokenUnit : Unit {
  bool opens = false, punctuation = false;
};

TokenUnit UnitOf(absl::string_view token, int64_t properties) {
  constexpr int64_t kEmoticon = 0x80, kAcronym = 0x100;
  TokenUnit unit;
  const FirstCharacter c(token);
  unit.ambiguous = token == kDots || (properties & kEmoticon) != 0;
  unit.acronym = (properties & kAcronym) != 0 && token.back() == '.';
  if (c.size == std::ssize(token)) {
    unit.ambiguous = unit.ambiguous || c.value == kEllipsis;
    unit.ends = EndsSentence(c.value);
    unit.closes = IsClosingParenthesis(c.value);
    unit.opens = IsOpeningParenthesis(c.value);
    unit.punctuation = IsPunctuation(c.value);
  }
  unit.ends = unit.ends || unit.ambiguous;
  return unit;
}

void AddFragments(const std::vector<TokenUnit>& units, SentenceFragments& to) {
  using Place = std::vector<TokenUnit>::const_iterator;
  const auto at = [&units](int64_t i) { return units.begin() + i; };
  const auto ambiguous = [](const TokenUnit& u) { return u.ambiguous; };
  const auto first_mark = [&](const Ending& e) {
    Place i = at(e.closing);
    while (i != at(e.marks) && !ambiguous(*std::prev(i))) --i;
    return i == at(e.closing) ? e.marks : std::distance(units.begin(), i);
  };
  const auto several = [&](const Ending& e) {
    return e.has_marks() && std::any_of(at(e.marks + 1), at(e.closing), [](const TokenUnit& u) {
             return u.punctuation && !u.ambiguous;
           });
  };
  const size_t before = to.begins.size();
  bool opened_at_beginning = false;
  for (int64_t begin = 0; begin < std::ssize(units);) {
    const Ending e = FindEnding(begin, std::ssize(units), [&](int64_t i) { return *at(i); });
    for (int64_t i = e.limit - 1; i >= begin; --i) {
      if (!at(i)->opens) continue;
      opened_at_beginning = i == begin;
      break;
    }
    int64_t properties = several(e) ? kSeveralMarks : 0;
    if (e.closing < e.limit && opened_at_beginning) properties |= kOpenedAtBeginning;
    to.Add(begin, e, first_mark(e), properties);
    begin = e.limit;
  }
  to.counts.push_back(static_cast<int64_t>(to.begins.size() - before));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SentencesKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const absl::Span<const std::string> texts(run.input<std::string>(0), static_cast<size_t>(n));
    TENON_ASSIGN_OR_RETURN(const std::vector<SentenceFragments> parts,
                           InParts<SentenceFragments>(threads, n, RowCost(texts, 30),
                                                      [&](SentenceFragments& to, int64_t i) {
                                                        AddFragments(texts[static_cast<size_t>(i)],
                                                                     to);
                                                        return absl::OkStatus();
                                                      }));
    return WriteFragments(run, parts);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SentencesOfTokensKernel(PrepareContext& p) {
  const int64_t texts = p.input_shape(0).num_elements(), n = p.input_shape(3).num_elements();
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::string* token = run.input<std::string>(3);
    const int64_t *lengths = run.input<int64_t>(0), *properties = run.input<int64_t>(4);
    std::vector<SentenceFragments> fragments(1);
    int64_t left = n;
    for (int64_t r = 0; r < texts; ++r) {
      if (lengths[r] < 0 || lengths[r] > left) {
        return InvalidArgument("row_lengths[", r, "] is ", lengths[r], ", and ", left, " of ", n,
                               " tokens are left");
      }
      std::vector<TokenUnit> units;
      for (int64_t i = 0; i < lengths[r]; ++i, ++token, ++properties) {
        if (token->empty()) return InvalidArgument("token_word[", n - left + i, "] is empty");
        units.push_back(UnitOf(*token, *properties));
      }
      AddFragments(units, fragments[0]);
      left -= lengths[r];
    }
    if (left > 0) {
      return InvalidArgument("row_lengths add up to ", n - left, ", but there are ", n, " tokens");
    }
    return WriteFragments(run, fragments);
  });
}

}  // namespace tenon
