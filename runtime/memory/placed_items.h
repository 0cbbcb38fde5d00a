// The items of an arena that have a place, by the steps in which they are live: a segment tree, so
// that laying out a plan takes time in proportion to its steps as long as few tensors are live at
// once.
#ifndef TENON_RUNTIME_MEMORY_PLACED_ITEMS_H_
#define TENON_RUNTIME_MEMORY_PLACED_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

class PlacedItems {
 public:
  PlacedItems(size_t items, size_t steps);

  // An item that is live in the steps `first` to `last`, and ends at the offset `end`.
  void Add(size_t item, size_t first, size_t last, size_t end);
  // The items that are live at any of these steps, in no particular order; false: there are more
  // than `most`.
  bool LiveIn(size_t first, size_t last, size_t most, std::vector<size_t>& items);
  // The highest offset at which one of them ends.
  size_t TopIn(size_t first, size_t last) const { return TopIn(0, 0, leaves_ - 1, first, last); }

 private:
  struct Node {
    std::vector<size_t> items;  // live in all steps of the node, but not of its parent
    size_t top = 0;             // of them
    size_t top_below = 0;       // of them and of those of its children
    bool empty = true;          // so are its children
  };
  // `begin` to `end`: the node's steps.
  void Add(size_t node, size_t begin, size_t end, size_t item, size_t first, size_t last,
           size_t top);
  bool LiveIn(size_t node, size_t begin, size_t end, size_t first, size_t last, size_t most,
              std::vector<size_t>& items);
  size_t TopIn(size_t node, size_t begin, size_t end, size_t first, size_t last) const;

  size_t leaves_ = 1;
  std::vector<Node> nodes_;  // the children of node n: 2n + 1 and 2n + 2
  std::vector<uint32_t> seen_;
  uint32_t query_ = 0;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_MEMORY_PLACED_ITEMS_H_
