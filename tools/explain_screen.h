// The texts of `tenon explain`: one screen for a model, and the story of one node.
#ifndef TENON_TOOLS_EXPLAIN_SCREEN_H_
#define TENON_TOOLS_EXPLAIN_SCREEN_H_

#include <string>
#include <vector>

#include "runtime/explore/advice.h"
#include "runtime/explore/exploration.h"

namespace tenon {

struct ScreenStyle {
  int width = 100;  // of lines, in characters
  bool colors = false;
};

// What runs where, the costliest nodes and why each is as it is, what almost fused, what to try.
// `note` is shown with the inputs; it may be empty.
std::string ExplainScreen(const Model& model, const Exploration& e, const Machine& machine,
                          const std::string& note, const ScreenStyle& style);
// Phase by phase: what became of the nodes, and which rules almost changed them.
std::string NodeStories(const std::vector<NodeExplanation>& nodes, const Exploration& e,
                        const ScreenStyle& style);

}  // namespace tenon

#endif  // TENON_TOOLS_EXPLAIN_SCREEN_H_
