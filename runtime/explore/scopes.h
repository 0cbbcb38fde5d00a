// Names of nodes without the scopes that all of them share.
//
//   const ShortNames shorten(names);          // "model/a/conv", "model/b/conv" ...
//   shorten("model/a/conv")                   // "a/conv"
#ifndef TENON_RUNTIME_EXPLORE_SCOPES_H_
#define TENON_RUNTIME_EXPLORE_SCOPES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace tenon {

class ShortNames {
 public:
  // The prefix is the longest one, up to a '/', that nine tenths of the names with scopes share.
  explicit ShortNames(const std::vector<std::string>& names);

  // Names without the prefix stay as they are.
  std::string operator()(absl::string_view name) const;
  const std::string& prefix() const { return prefix_; }

 private:
  std::string prefix_;
};

// For the names of the nodes that run.
ShortNames ShortNamesOf(const Graph& graph);

// "a/b/conv": "a", "a/b".
std::vector<std::string> ScopesOf(absl::string_view name);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_SCOPES_H_
