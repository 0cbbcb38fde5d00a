#include "graph_rewrite/pattern_set.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

// The "Name" and "This|That" of "%n = Name(", in order, without constants.
std::vector<std::vector<std::string>> OpsIn(absl::string_view text) {
  std::vector<std::vector<std::string>> ops;
  for (size_t at = text.find('='); at != text.npos; at = text.find('=', at + 1)) {
    size_t begin = at + 1;
    while (begin < text.size() && absl::ascii_isspace(static_cast<unsigned char>(text[begin]))) {
      ++begin;
    }
    size_t end = begin;
    while (end < text.size() && (absl::ascii_isalnum(static_cast<unsigned char>(text[end])) ||
                                 text[end] == '_' || text[end] == '|')) {
      ++end;
    }
    if (end == begin || end == text.size() || text[end] != '(') continue;  // an attribute
    const absl::string_view name = text.substr(begin, end - begin);
    if (name != "Const") ops.push_back(absl::StrSplit(name, '|'));
  }
  return ops;
}

}  // namespace

PatternSet::PatternSet(const Rule& rule) : rule_(rule) {
  for (absl::string_view text : absl::StrSplit(rule.pattern, "||")) {
    needs_.push_back(OpsIn(text));
    size_ = std::max(size_, static_cast<int>(needs_.back().size()));
    if (needs_.back().empty()) continue;
    for (const std::string& op : needs_.back().back()) {
      if (std::find(anchors_.begin(), anchors_.end(), op) == anchors_.end()) {
        anchors_.push_back(op);
      }
    }
  }
}

bool PatternSet::CanMatch(absl::FunctionRef<bool(absl::string_view)> has_op) const {
  return std::any_of(needs_.begin(), needs_.end(), [&](const std::vector<Ops>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](const Ops& ops) { return std::any_of(ops.begin(), ops.end(), has_op); });
  });
}

const absl::StatusOr<std::vector<CompiledPattern>>& PatternSet::Compiled() const {
  absl::call_once(once_, [this] { compiled_ = CompilePatterns(rule_); });
  return compiled_;
}

}  // namespace tenon
