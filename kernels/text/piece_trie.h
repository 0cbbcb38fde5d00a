// A trie of pieces, for finding all of them that begin at a place in a text.
#ifndef TENON_KERNELS_TEXT_PIECE_TRIE_H_
#define TENON_KERNELS_TEXT_PIECE_TRIE_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace tenon {

class PieceTrie {
 public:
  static constexpr int32_t kNone = -1;

  PieceTrie() { starts_.fill(kNone); }
  // Distinct pieces that are not empty, with their values.
  explicit PieceTrie(std::vector<std::pair<absl::string_view, int32_t>> pieces);

  // Calls found(size, value) for each piece that `text` begins with, the shortest first.
  template <typename F>
  void ForEachPrefix(absl::string_view text, F&& found) const {
    int32_t node = text.empty() ? kNone : starts_[static_cast<unsigned char>(text[0])];
    for (size_t size = 1; node != kNone; ++size) {
      const Node& n = nodes_[static_cast<size_t>(node)];
      if (n.value != kNone) found(size, n.value);
      node = size < text.size() ? Child(n, text[size]) : kNone;
    }
  }

  size_t bytes() const { return nodes_.size() * sizeof(Node) + sizeof(starts_); }

 private:
  struct Node {
    int32_t value = kNone;
    int32_t first = 0;  // its children lie together, in the order of their bytes
    uint16_t children = 0;
    unsigned char byte = 0;  // of the edge that leads to it
  };

  int32_t Child(const Node& n, char byte) const {
    const unsigned char wanted = static_cast<unsigned char>(byte);
    int32_t low = n.first, high = n.first + n.children;
    while (low < high) {
      const int32_t middle = (low + high) / 2;
      const unsigned char at = nodes_[static_cast<size_t>(middle)].byte;
      if (at == wanted) return middle;
      if (at < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return kNone;
  }

  std::vector<Node> nodes_;
  std::array<int32_t, 256> starts_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_PIECE_TRIE_H_
