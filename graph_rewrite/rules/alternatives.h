// Combines pieces of pattern text: for a computation that can be written in several ways, generates
// every combination of a few alternatives, separated by "||" as in graph_rewrite/rule.h.
//
//   Alternatives({{"%u = Mul(%x, 0.5) ", "%u = RealDiv(%x, 2) "}, {"%y = Erf(%u)"}})
#ifndef TENON_GRAPH_REWRITE_RULES_ALTERNATIVES_H_
#define TENON_GRAPH_REWRITE_RULES_ALTERNATIVES_H_

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

// Picks one piece from each list, in all combinations.
inline std::vector<std::string> Combine(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> all = {""};
  for (const std::vector<std::string>& list : lists) {
    std::vector<std::string> longer;
    for (const std::string& head : all) {
      for (const std::string& piece : list) longer.push_back(head + piece);
    }
    all = std::move(longer);
  }
  return all;
}

// The text lives as long as the program, because rules keep the pointer.
inline const char* Keep(std::string text) {
  static auto* const kept = new std::deque<std::string>;
  return kept->emplace_back(std::move(text)).c_str();
}

inline const char* Alternatives(const std::vector<std::vector<std::string>>& lists) {
  std::string text;
  for (const std::string& one : Combine(lists)) {
    if (!text.empty()) text += " || ";
    text += one;
  }
  return Keep(std::move(text));
}

// Joins several of these.
template <typename... Patterns>
const char* Either(const char* first, const Patterns*... others) {
  std::string text(first);
  ((text += " || ", text += others), ...);
  return Keep(std::move(text));
}

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RULES_ALTERNATIVES_H_
