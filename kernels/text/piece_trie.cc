#include "kernels/text/piece_trie.h"

#include <algorithm>

namespace tenon {

PieceTrie::PieceTrie(std::vector<std::pair<absl::string_view, int32_t>> pieces) {
  starts_.fill(kNone);
  std::sort(pieces.begin(), pieces.end());
  // Ranges of pieces that share their first `depth` bytes, and the node that these lead to.
  struct Range {
    size_t begin, end, depth, node;
  };
  std::vector<Range> queue = {{0, pieces.size(), 0, 0}};
  nodes_.emplace_back();  // the root, whose children are in starts_ too
  for (size_t q = 0; q < queue.size(); ++q) {
    Range r = queue[q];
    if (r.begin < r.end && pieces[r.begin].first.size() == r.depth) {
      nodes_[r.node].value = pieces[r.begin++].second;
    }
    nodes_[r.node].first = static_cast<int32_t>(nodes_.size());
    while (r.begin < r.end) {
      const char byte = pieces[r.begin].first[r.depth];
      size_t end = r.begin;
      while (end < r.end && pieces[end].first[r.depth] == byte) ++end;
      queue.push_back({r.begin, end, r.depth + 1, nodes_.size()});
      Node child;
      child.byte = static_cast<unsigned char>(byte);
      if (r.depth == 0) starts_[child.byte] = static_cast<int32_t>(nodes_.size());
      nodes_.push_back(child);
      ++nodes_[r.node].children;
      r.begin = end;
    }
  }
}

}  // namespace tenon
