#include "kernels/matmul/einsum_equation.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "env/status.h"

namespace tenon {
namespace {

// The labels of the ellipsis's dimensions, counted from the right, are larger than those of
// letters.
constexpr int kEllipsis = 256;

struct Subscript {
  std::string before, after;
  bool ellipsis = false;

  int letters() const { return static_cast<int>(before.size() + after.size()); }
};

absl::StatusOr<Subscript> ParseSubscript(absl::string_view text) {
  Subscript s;
  const size_t dots = text.find("...");
  s.before = std::string(text.substr(0, dots));
  if (dots != absl::string_view::npos) {
    s.ellipsis = true;
    s.after = std::string(text.substr(dots + 3));
  }
  for (char c : s.before + s.after) {
    if (!absl::ascii_isalpha(static_cast<unsigned char>(c))) {
      return InvalidArgument("equation: '", std::string(1, c), "' is not a letter");
    }
  }
  return s;
}

std::vector<int> Labels(const Subscript& s, int ellipsis_rank) {
  std::vector<int> labels(s.before.begin(), s.before.end());
  if (s.ellipsis) {
    for (int i = ellipsis_rank; i-- > 0;) labels.push_back(kEllipsis + i);
  }
  labels.insert(labels.end(), s.after.begin(), s.after.end());
  return labels;
}

struct Sides {
  std::vector<std::string> inputs;
  std::string output;
};

absl::StatusOr<Sides> SplitSides(const std::string& equation) {
  const std::string text = absl::StrReplaceAll(equation, {{" ", ""}});
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  if (sides.size() != 2) return InvalidArgument("equation '", equation, "' must have one '->'");
  return Sides{absl::StrSplit(sides[0], ','), sides[1]};
}

}  // namespace

absl::StatusOr<int> EinsumOperands(const std::string& equation) {
  TENON_ASSIGN_OR_RETURN(const Sides sides, SplitSides(equation));
  return static_cast<int>(sides.inputs.size());
}

absl::StatusOr<EinsumLabels> ParseEinsum(const std::string& equation, absl::Span<const int> ranks) {
  TENON_ASSIGN_OR_RETURN(const Sides sides, SplitSides(equation));
  if (sides.inputs.size() != ranks.size()) {
    return InvalidArgument("equation '", equation, "' is for ", sides.inputs.size(),
                           " operands, but there are ", ranks.size());
  }
  EinsumLabels result;
  int ellipsis_rank = 0;
  std::string known;
  for (size_t i = 0; i < ranks.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Subscript s, ParseSubscript(sides.inputs[i]));
    const int rest = ranks[i] - s.letters();
    if (rest < 0 || (rest > 0 && !s.ellipsis)) {
      return InvalidArgument("equation '", equation, "': operand ", i, " has rank ", ranks[i],
                             ", but the subscript '", sides.inputs[i], "'");
    }
    if (s.ellipsis) ellipsis_rank = std::max(ellipsis_rank, rest);
    result.inputs.push_back(Labels(s, rest));
    known += s.before + s.after;
  }
  TENON_ASSIGN_OR_RETURN(const Subscript out, ParseSubscript(sides.output));
  for (char c : out.before + out.after) {
    if (known.find(c) == std::string::npos) {
      return InvalidArgument("equation '", equation, "': output label '", std::string(1, c),
                             "' is in no operand");
    }
  }
  if (ellipsis_rank > 0 && !out.ellipsis) {
    return InvalidArgument("equation '", equation, "': the output has no ellipsis for ",
                           ellipsis_rank, " dimensions");
  }
  result.output = Labels(out, ellipsis_rank);
  return result;
}

}  // namespace tenon
