// A double-array trie as the darts-clone library builds it: an array of units, where a node is the
// index of its unit. Tries come from models, so no step leaves the array.
#ifndef TENON_KERNELS_TEXT_TRIE_H_
#define TENON_KERNELS_TEXT_TRIE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace tenon {

class Trie {
 public:
  static constexpr uint32_t kRoot = 0;

  explicit Trie(std::vector<uint32_t> units) : units_(std::move(units)) {}

  size_t size() const { return units_.size(); }

  // Follows the edge, or leaves `node` as it is and returns false.
  bool Step(uint32_t& node, char edge) const {
    const uint32_t label = static_cast<unsigned char>(edge);
    const uint32_t next = Children(node) ^ label;
    if (next >= units_.size() || (units_[next] & (kIsLeaf | 0xFF)) != label) return false;
    node = next;
    return true;
  }

  // Follows all edges, or none.
  bool Steps(uint32_t& node, absl::string_view edges) const {
    uint32_t at = node;
    for (const char edge : edges) {
      if (!Step(at, edge)) return false;
    }
    node = at;
    return true;
  }

  // Calls found(size, value) for each entry that `text` begins with, the shortest first.
  template <typename F>
  void ForEachPrefix(absl::string_view text, F&& found) const {
    if (units_.empty()) return;
    uint32_t node = kRoot;
    for (size_t i = 0; i < text.size() && Step(node, text[i]); ++i) {
      const int32_t value = Value(node);
      if (value >= 0) found(i + 1, value);
    }
  }

  // The value at a node, -1 if it has none.
  int32_t Value(uint32_t node) const {
    if ((units_[node] & kHasLeaf) == 0) return -1;
    const uint32_t leaf = Children(node);
    return leaf < units_.size() ? static_cast<int32_t>(units_[leaf] & ~kIsLeaf) : -1;
  }

 private:
  static constexpr uint32_t kIsLeaf = 0x80000000, kHasLeaf = 0x100, kWide = 0x200;

  // The index from which the children's indices are counted. Far ones are counted in 256s.
  uint32_t Children(uint32_t node) const {
    const uint32_t unit = units_[node];
    return node ^ ((unit >> 10) << ((unit & kWide) >> 6));
  }

  std::vector<uint32_t> units_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_TEXT_TRIE_H_
