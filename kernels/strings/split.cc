#include "kernels/strings/split.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "env/status.h"

namespace tenon {
namespace {

using Parts = std::vector<absl::string_view>;

// split(text) returns a string's parts.
template <typename F>
absl::Status RunSplit(RunContext& run, int64_t n, F&& split) {
  std::vector<Parts> rows;
  int64_t count = 0, longest = 0;
  for (int64_t i = 0; i < n; ++i) {
    rows.push_back(split(absl::string_view(run.input<std::string>(0)[i])));
    const int64_t size = static_cast<int64_t>(rows.back().size());
    count += size;
    longest = std::max(longest, size);
  }
  TENON_ASSIGN_OR_RETURN(void* indices, run.AllocateOutput(0, Shape({count, 2})));
  TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(1, Shape({count})));
  int64_t* at = static_cast<int64_t*>(indices);
  std::string* value = static_cast<std::string*>(values);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t k = 0; k < rows[r].size(); ++k) {
      *at++ = static_cast<int64_t>(r);
      *at++ = static_cast<int64_t>(k);
      *value++ = std::string(rows[r][k]);
    }
  }
  run.output<int64_t>(2)[0] = n;
  run.output<int64_t>(2)[1] = longest;
  return absl::OkStatus();
}

// Splits at every byte that is in `delimiters`; between all bytes if it is empty.
Parts SplitAtAny(absl::string_view text, absl::string_view delimiters, bool skip_empty) {
  Parts parts;
  if (text.empty()) return parts;
  if (delimiters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) parts.push_back(text.substr(i, 1));
    return parts;
  }
  parts = absl::StrSplit(text, absl::ByAnyChar(delimiters));
  if (skip_empty) {
    parts.erase(std::remove(parts.begin(), parts.end(), absl::string_view()), parts.end());
  }
  return parts;
}

// Splits at whitespace; the rest after `most` parts is one more part.
Parts SplitAtSpace(absl::string_view text, int64_t most) {
  Parts parts;
  text = absl::StripLeadingAsciiWhitespace(text);
  while (!text.empty()) {
    if (most > 0 && std::ssize(parts) == most) {
      parts.push_back(text);
      return parts;
    }
    const size_t end = static_cast<size_t>(
        std::find_if(text.begin(), text.end(), absl::ascii_isspace) - text.begin());
    parts.push_back(text.substr(0, end));
    text = absl::StripLeadingAsciiWhitespace(text.substr(end));
  }
  if (most > 0 && std::ssize(parts) == most) parts.push_back(text);
  return parts;
}

Parts SplitAt(absl::string_view text, absl::string_view separator, int64_t most) {
  Parts parts;
  for (;;) {
    const size_t at = text.find(separator);
    if (at == absl::string_view::npos || (most > 0 && std::ssize(parts) == most)) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SplitAtBytesKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  const bool skip_empty = p.attrs().Bool("skip_empty", true);
  return MakeKernel([n, skip_empty](RunContext& run) {
    const absl::string_view delimiters = *run.input<std::string>(1);
    return RunSplit(
        run, n, [&](absl::string_view text) { return SplitAtAny(text, delimiters, skip_empty); });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SplitAtTextKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  const int64_t most = p.attrs().Int("maxsplit", -1);
  return MakeKernel([n, most](RunContext& run) {
    const absl::string_view separator = *run.input<std::string>(1);
    return RunSplit(run, n, [&](absl::string_view text) {
      if (most == 0) return Parts{text};
      return separator.empty() ? SplitAtSpace(text, most) : SplitAt(text, separator, most);
    });
  });
}

}  // namespace tenon
