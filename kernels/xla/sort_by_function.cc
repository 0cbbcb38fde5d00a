#include <algorithm>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/xla/element_calls.h"
#include "kernels/xla/elements.h"

namespace tenon {
namespace {

// Two neighboring sorted runs of positions, and how far they are merged.
struct Merge {
  int64_t left, left_end, right, right_end, out;
};

// The merges of runs of `width` in rows of `length`.
std::vector<Merge> Merges(int64_t count, int64_t length, int64_t width) {
  std::vector<Merge> merges;
  for (int64_t row = 0; row < count; row += length) {
    for (int64_t i = 0; i < length; i += 2 * width) {
      const int64_t middle = std::min(i + width, length), end = std::min(i + 2 * width, length);
      merges.push_back({row + i, row + middle, row + middle, row + end, row + i});
    }
  }
  return merges;
}

}  // namespace

// A merge sort of all rows at once: each call compares the heads of all runs that are being merged.
absl::StatusOr<std::vector<Tensor>> SortByFunction(absl::Span<const Tensor> inputs,
                                                   ElementFunction comes_first) {
  const absl::Span<const Tensor> tensors = inputs.subspan(0, inputs.size() - 1);
  const Shape shape = tensors[0].shape();
  TENON_ASSIGN_OR_RETURN(const int64_t dimension, ScalarInteger(inputs.back(), "dimension"));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(dimension, shape.rank()));
  const int64_t length = shape.dim(axis), count = shape.num_elements();
  const int64_t inner = Product(shape, axis + 1, shape.rank());

  // Row by row along the axis: the element at each place.
  std::vector<int64_t> places(static_cast<size_t>(count)), order(places.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = i / length;
    places[static_cast<size_t>(i)] = (row / inner * length + i % length) * inner + row % inner;
  }
  order = places;
  std::vector<int64_t> merged(order.size()), a, b;
  std::vector<Tensor> arguments(2 * tensors.size());
  for (int64_t width = 1; width < length; width *= 2) {
    std::vector<Merge> merges = Merges(count, length, width);
    std::vector<Merge*> active;
    while (true) {
      active.clear();
      a.clear();
      b.clear();
      for (Merge& m : merges) {
        if (m.left == m.left_end || m.right == m.right_end) continue;
        active.push_back(&m);
        a.push_back(order[static_cast<size_t>(m.right)]);
        b.push_back(order[static_cast<size_t>(m.left)]);
      }
      if (active.empty()) break;
      PadToPowerOfTwo(a);
      PadToPowerOfTwo(b);
      for (size_t i = 0; i < tensors.size(); ++i) {
        TENON_ASSIGN_OR_RETURN(arguments[2 * i], Take(tensors[i], a));
        TENON_ASSIGN_OR_RETURN(arguments[2 * i + 1], Take(tensors[i], b));
      }
      TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> first, comes_first(arguments));
      if (first.size() != 1 || first[0].dtype() != DType::kBool) {
        return InvalidArgument("the comparator must give a bool");
      }
      for (size_t i = 0; i < active.size(); ++i) {
        Merge& m = *active[i];
        int64_t& head = first[0].data<bool>()[i] ? m.right : m.left;
        merged[static_cast<size_t>(m.out++)] = order[static_cast<size_t>(head++)];
      }
    }
    for (Merge& m : merges) {
      const auto rest = [&](int64_t from, int64_t end) {
        std::copy(order.begin() + from, order.begin() + end, merged.begin() + m.out);
        m.out += end - from;
      };
      rest(m.left, m.left_end);
      rest(m.right, m.right_end);
    }
    order.swap(merged);
  }
  std::vector<Tensor> results;
  for (const Tensor& t : tensors) {
    TENON_ASSIGN_OR_RETURN(const Tensor sorted, Take(t, order));
    TENON_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(t.dtype(), shape));
    Put(sorted, places, result);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace tenon
