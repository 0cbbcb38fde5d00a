#include "kernels/text/regex_split.h"

#include <re2/re2.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/text/rows.h"

namespace tenon {
namespace {

// Whether the pattern is one group. Its match is then the whole match, which RE2 finds faster.
// Cautious about what it does not know.
bool IsOneGroup(absl::string_view pattern) {
  if (pattern.size() < 2 || pattern[0] != '(' || pattern[1] == '?') return false;
  int depth = 0;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      if (i + 1 < pattern.size() && pattern[i + 1] == 'Q') return false;  // quotes up to \E
      ++i;
    } else if (in_class) {
      if (c == ']') in_class = false;
      if (c == '[') return false;  // perhaps [:alpha:]
    } else if (c == '[') {
      in_class = true;
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') ++i;
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') ++i;  // first, it stands for itself
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      return i + 1 == pattern.size();
    }
  }
  return false;
}

class Splitter {
 public:
  static absl::StatusOr<std::shared_ptr<const Splitter>> Make(const std::string& delimiter,
                                                              const std::string& kept) {
    auto splitter = std::make_shared<Splitter>();
    TENON_ASSIGN_OR_RETURN(splitter->delimiter_, Compile(delimiter));
    TENON_ASSIGN_OR_RETURN(splitter->kept_, Compile(kept));
    splitter->keeps_ = !kept.empty();
    splitter->groups_ = splitter->delimiter_->NumberOfCapturingGroups();
    splitter->one_group_ = splitter->groups_ == 1 && IsOneGroup(delimiter);
    return splitter;
  }

  // Calls token(first byte, the byte after the last).
  template <typename F>
  absl::Status Split(absl::string_view text, F&& token) const {
    size_t at = 0;
    re2::StringPiece rest(text.data(), text.size());
    re2::StringPiece match[2];
    const int used = one_group_ ? 1 : 2;
    const re2::StringPiece& group = match[used - 1];
    // Without a group, nothing is split.
    while (groups_ > 0 && delimiter_->Match(rest, 0, rest.size(), RE2::UNANCHORED, match, used)) {
      if (group.data() == nullptr) {
        return InvalidArgument("the pattern ", delimiter_->pattern(), " matches without its group");
      }
      const size_t next = static_cast<size_t>(match[0].data() - text.data()) + match[0].size();
      if (next == at) {
        return InvalidArgument("the pattern ", delimiter_->pattern(), " matches an empty text");
      }
      const size_t begin = static_cast<size_t>(group.data() - text.data());
      if (begin > at) token(at, begin);
      if (keeps_ && RE2::FullMatch(group, *kept_)) token(begin, begin + group.size());
      at = next;
      rest = re2::StringPiece(text.data() + at, text.size() - at);
    }
    if (at < text.size()) token(at, text.size());
    return absl::OkStatus();
  }

 private:
  static absl::StatusOr<std::unique_ptr<const RE2>> Compile(const std::string& pattern) {
    RE2::Options options;
    options.set_log_errors(false);
    auto regex = std::make_unique<const RE2>(pattern, options);
    if (regex->ok()) return regex;
    return InvalidArgument("Invalid pattern: ", pattern, ", error: ", regex->error());
  }

  std::unique_ptr<const RE2> delimiter_, kept_;
  bool keeps_ = false, one_group_ = false;
  int groups_ = 0;
};

struct Parts {
  std::vector<absl::string_view> tokens;
  std::vector<int64_t> begins, ends, counts;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RegexSplitKernel(PrepareContext& p) {
  const size_t n = static_cast<size_t>(p.input_shape(0).num_elements());
  const int threads = p.services().threads;
  const Tensor *delimiter = p.value(1), *kept = p.value(2);
  std::shared_ptr<const Splitter> shared;
  if (delimiter != nullptr && kept != nullptr) {
    TENON_ASSIGN_OR_RETURN(
        shared, Splitter::Make(delimiter->data<std::string>()[0], kept->data<std::string>()[0]));
    p.InputNotRead(1);
    p.InputNotRead(2);
  }
  return MakeKernel([=](RunContext& run) -> absl::Status {
    std::shared_ptr<const Splitter> splitter = shared;
    if (splitter == nullptr) {
      TENON_ASSIGN_OR_RETURN(
          splitter, Splitter::Make(*run.input<std::string>(1), *run.input<std::string>(2)));
    }
    const absl::Span<const std::string> texts(run.input<std::string>(0), n);
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Parts> parts,
        InParts<Parts>(threads, std::ssize(texts), RowCost(texts, 20), [&](Parts& part, int64_t i) {
          const absl::string_view text = texts[static_cast<size_t>(i)].c_str();
          const int64_t before = std::ssize(part.tokens);
          const absl::Status status = splitter->Split(text, [&](size_t a, size_t b) {
            part.tokens.push_back(text.substr(a, b - a));
            part.begins.push_back(static_cast<int64_t>(a));
            part.ends.push_back(static_cast<int64_t>(b));
          });
          part.counts.push_back(std::ssize(part.tokens) - before);
          return status;
        }));
    TENON_RETURN_IF_ERROR(WriteParts<std::string>(run, 0, parts, &Parts::tokens));
    TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 1, parts, &Parts::begins));
    TENON_RETURN_IF_ERROR(WriteParts<int64_t>(run, 2, parts, &Parts::ends));
    WriteSplits(parts, &Parts::counts, run.output<int64_t>(3));
    return absl::OkStatus();
  });
}

}  // namespace tenon
