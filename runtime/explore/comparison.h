// Two explorations side by side: which nodes compute the same, and where they differ.
#ifndef TENON_RUNTIME_EXPLORE_COMPARISON_H_
#define TENON_RUNTIME_EXPLORE_COMPARISON_H_

#include <string>
#include <utility>
#include <vector>

#include "env/containers.h"
#include "runtime/explore/exploration.h"

namespace tenon {

enum class Mark {
  kSlower,  // than the other: by more than a tenth, and 1 % of the run
  kFaster,
  kUnfused,  // one of several nodes that compute what the other does in one
  kFused,    // that one
  kNew,      // nothing in the other computes it
  kOtherOp,
  kOtherImplementation,
  kOtherDType,
};
// "slower", "other_op" ...
const char* Name(Mark mark);

struct Comparison {
  struct Row {
    NodeId a = kNoNode, b = kNoNode;  // of the rewritten graphs; kNoNode: none
    double a_ms = 0, b_ms = 0;
    std::vector<Mark> marks;
    std::string text;  // one sentence
  };
  // Nodes that compute the same: of one name or, failing that, of one op and from nodes that have
  // names in common.
  std::vector<std::pair<NodeId, NodeId>> pairs;
  OrderedMap<NodeId, std::vector<Mark>> of_a, of_b;
  std::vector<Row> rows;             // what is marked, the largest difference of times first
  std::vector<std::string> summary;  // sentences
};

// Nodes that cost nothing in a run are left out. `a_title` and `b_title` are for sentences.
Comparison Compare(const Exploration& a, const std::string& a_title, const Exploration& b,
                   const std::string& b_title);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXPLORE_COMPARISON_H_
