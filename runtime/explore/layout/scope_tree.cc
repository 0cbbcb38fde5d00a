#include "runtime/explore/layout/scope_tree.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "env/containers.h"

namespace tenon {
namespace {

constexpr int kDeepest = 24;     // names from damaged files may have thousands of parts
constexpr int kFewestNames = 3;  // in a scope

// The ends of all scopes in the name: at each '/', and at underscores after a number.
std::vector<size_t> EndsOf(absl::string_view name) {
  std::vector<size_t> ends;
  size_t begin = 0;  // of the part
  for (size_t i = 1; i < name.size() && ends.size() < kDeepest; ++i) {
    if (name[i] == '/') {
      ends.push_back(i);
      begin = i + 1;
    } else if (name[i] == '_' && i > begin && absl::ascii_isdigit(name[i - 1])) {
      // "conv_1_2" is no block "conv_1": what follows must not be a number alone.
      size_t end = i + 1;
      while (end < name.size() && absl::ascii_isdigit(name[end])) ++end;
      const bool number = end == name.size() || name[end] == '/';
      if (!number) ends.push_back(i);
    }
  }
  return ends;
}

struct Found {
  absl::string_view name;
  int parent = -1;
  int names = 0;    // that it holds, nested ones too
  int largest = 0;  // scope in it
};

}  // namespace

int ScopeTree::DepthOf(int scope) const {
  int depth = 0;
  for (; scope >= 0; scope = scopes[static_cast<size_t>(scope)].parent) ++depth;
  return depth;
}

ScopeTree ScopesByName(const std::vector<std::string>& names) {
  std::vector<Found> found;
  HashMap<absl::string_view, int> by_name;
  std::vector<int> innermost(names.size(), -1);
  for (size_t i = 0; i < names.size(); ++i) {
    const absl::string_view name = names[i];
    int scope = -1;
    for (size_t end : EndsOf(name)) {
      const auto [it, is_new] =
          by_name.emplace(name.substr(0, end), static_cast<int>(found.size()));
      if (is_new) found.push_back({name.substr(0, end), scope});
      scope = it->second;
      ++found[static_cast<size_t>(scope)].names;
    }
    innermost[i] = scope;
  }
  for (const Found& f : found) {
    if (f.parent < 0) continue;
    int& largest = found[static_cast<size_t>(f.parent)].largest;
    largest = std::max(largest, f.names);
  }
  // Parents were found before their children.
  ScopeTree tree;
  std::vector<int> kept(found.size());  // the scope itself, or the next one outside
  for (size_t i = 0; i < found.size(); ++i) {
    const Found& f = found[i];
    const int parent = f.parent < 0 ? -1 : kept[static_cast<size_t>(f.parent)];
    const bool keep = f.names >= kFewestNames && f.names > f.largest &&
                      static_cast<size_t>(f.names) < names.size();
    if (!keep) {
      kept[i] = parent;
      continue;
    }
    kept[i] = static_cast<int>(tree.scopes.size());
    absl::string_view label = f.name;
    // Without the parent's name and the '/' or '_' after it.
    if (parent >= 0) label.remove_prefix(tree.scopes[static_cast<size_t>(parent)].name.size() + 1);
    tree.scopes.push_back({std::string(f.name), std::string(label), parent});
  }
  for (int scope : innermost) {
    tree.scope_of.push_back(scope < 0 ? -1 : kept[static_cast<size_t>(scope)]);
  }
  return tree;
}

}  // namespace tenon
