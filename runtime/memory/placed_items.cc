#include "runtime/memory/placed_items.h"

#include <algorithm>

namespace tenon {

PlacedItems::PlacedItems(size_t items, size_t steps) : seen_(items, 0) {
  while (leaves_ < steps) leaves_ *= 2;
  nodes_.resize(2 * leaves_ - 1);
}

void PlacedItems::Add(size_t item, size_t first, size_t last, size_t end) {
  Add(0, 0, leaves_ - 1, item, first, last, end);
}

void PlacedItems::Add(size_t node, size_t begin, size_t end, size_t item, size_t first, size_t last,
                      size_t top) {
  Node& n = nodes_[node];
  n.empty = false;
  n.top_below = std::max(n.top_below, top);
  if (first <= begin && end <= last) {
    n.items.push_back(item);
    n.top = std::max(n.top, top);
    return;
  }
  const size_t middle = (begin + end) / 2;
  if (first <= middle) Add(2 * node + 1, begin, middle, item, first, last, top);
  if (last > middle) Add(2 * node + 2, middle + 1, end, item, first, last, top);
}

bool PlacedItems::LiveIn(size_t first, size_t last, size_t most, std::vector<size_t>& items) {
  items.clear();
  ++query_;
  return LiveIn(0, 0, leaves_ - 1, first, last, most, items);
}

bool PlacedItems::LiveIn(size_t node, size_t begin, size_t end, size_t first, size_t last,
                         size_t most, std::vector<size_t>& items) {
  const Node& n = nodes_[node];
  if (n.empty || last < begin || end < first) return true;
  for (size_t item : n.items) {
    if (seen_[item] == query_) continue;
    seen_[item] = query_;
    if (items.size() == most) return false;
    items.push_back(item);
  }
  if (begin == end) return true;
  const size_t middle = (begin + end) / 2;
  return LiveIn(2 * node + 1, begin, middle, first, last, most, items) &&
         LiveIn(2 * node + 2, middle + 1, end, first, last, most, items);
}

size_t PlacedItems::TopIn(size_t node, size_t begin, size_t end, size_t first, size_t last) const {
  const Node& n = nodes_[node];
  if (n.empty || last < begin || end < first) return 0;
  if (first <= begin && end <= last) return n.top_below;
  const size_t middle = (begin + end) / 2;
  return std::max({n.top, TopIn(2 * node + 1, begin, middle, first, last),
                   TopIn(2 * node + 2, middle + 1, end, first, last)});
}

}  // namespace tenon
