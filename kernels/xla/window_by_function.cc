#include <algorithm>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/xla/element_calls.h"
#include "kernels/xla/elements.h"
#include "kernels/xla/scatter_in_rounds.h"

namespace tenon {
namespace {

constexpr int64_t kMostWindow = int64_t{1} << 31;
// The longest window whose elements are combined one after the other, as XLA does. Then a function
// that is not associative, which XLA does not promise to support, gives what it does there.
constexpr int64_t kMostInOrder = 16;

// Visits the elements of a moving window.
class WindowWalk {
 public:
  WindowWalk(const std::vector<MovingWindow>& windows, const Shape& in, const Shape& out)
      : windows_(windows), in_(in), out_(out), strides_(DenseStrides(in)), k_(windows.size(), 0) {
    for (const MovingWindow& w : windows) done_ = done_ || w.size == 0;
  }

  bool done() const { return done_; }
  void Next() {
    size_t d = k_.size();
    for (; d > 0; --d) {
      if (++k_[d - 1] < windows_[d - 1].size) break;
      k_[d - 1] = 0;
    }
    done_ = d == 0;
  }

  // For each position of the window, the element of the input under its current element; -1: none.
  std::vector<int64_t> Positions() const {
    std::vector<int64_t> positions(static_cast<size_t>(out_.num_elements()));
    DimList index(k_.size(), 0);
    for (int64_t& p : positions) {
      p = 0;
      for (size_t d = 0; d < k_.size() && p >= 0; ++d) {
        const ConvWindow& w = windows_[d].steps;
        const int64_t at = index[d] * w.stride - w.low + k_[d] * w.rhs_dilation;
        const bool inside = at >= 0 && at % w.lhs_dilation == 0 &&
                            at / w.lhs_dilation < in_.dim(static_cast<int>(d));
        p = inside ? p + at / w.lhs_dilation * strides_[d] : -1;
      }
      for (size_t d = index.size(); d > 0; --d) {
        if (++index[d - 1] < out_.dim(static_cast<int>(d - 1))) break;
        index[d - 1] = 0;
      }
    }
    return positions;
  }

 private:
  const std::vector<MovingWindow>& windows_;
  const Shape &in_, &out_;
  const std::vector<int64_t> strides_;
  DimList k_;
  bool done_ = false;
};

absl::StatusOr<Tensor> Combined(ElementFunction combine, const Tensor& a, const Tensor& b) {
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, combine({a, b}));
  if (results.size() != 1 || results[0].dtype() != a.dtype()) {
    return InvalidArgument("the computation does not give a result of its arguments' dtype");
  }
  return std::move(results[0]);
}

// The shape of the part of a padded tensor that windows reach; Unknown if all windows are short, or
// if it is much larger than the tensor and the result.
Shape Reached(const std::vector<MovingWindow>& windows, const Shape& in, const Shape& out) {
  const double most = 16.0 * static_cast<double>(in.num_elements() + out.num_elements() + 1024);
  double elements = 1;
  bool all_short = true;
  Shape reached;
  for (size_t d = 0; d < windows.size(); ++d) {
    const ConvWindow& w = windows[d].steps;
    const int64_t steps = out.dim(static_cast<int>(d)) - 1, others = windows[d].size - 1;
    elements *= static_cast<double>(steps) * static_cast<double>(w.stride) +
                static_cast<double>(others) * static_cast<double>(w.rhs_dilation) + 1;
    all_short = all_short && windows[d].size <= kMostInOrder;
    if (elements > most || w.low < -kMostWindow || w.low > kMostWindow) return Shape::Unknown();
    reached.push_back(steps * w.stride + others * w.rhs_dilation + 1);
  }
  return all_short ? Shape::Unknown() : reached;
}

// The tensor within that part; elsewhere `border`.
absl::StatusOr<Tensor> Padded(const Tensor& in, const std::vector<MovingWindow>& windows,
                              const Shape& reached, const Tensor& border) {
  TENON_ASSIGN_OR_RETURN(Tensor padded, Repeat(border, reached.num_elements()));
  const std::vector<int64_t> from = DenseStrides(in.shape()), to = DenseStrides(reached);
  DimList sizes, steps;
  int64_t first = 0, at = 0;
  for (size_t d = 0; d < windows.size(); ++d) {
    const ConvWindow& w = windows[d].steps;
    // Element i goes to w.low + i * w.lhs_dilation.
    const int64_t skipped = w.low >= 0 ? 0 : CeilDiv(-w.low, w.lhs_dilation);
    const int64_t start = w.low + skipped * w.lhs_dilation;
    const int64_t room = reached.dim(static_cast<int>(d)) - start;
    const int64_t n = std::min(in.shape().dim(static_cast<int>(d)) - skipped,
                               room <= 0 ? 0 : CeilDiv(room, w.lhs_dilation));
    sizes.push_back(std::max<int64_t>(n, 0));
    steps.push_back(to[d] * w.lhs_dilation);
    if (n <= 0) continue;
    first += skipped * from[d];
    at += start * to[d];
  }
  StridedCopy(sizes, from, steps, first, at).Run(in.dtype(), in.raw(), padded.raw());
  return padded.Reshaped(reached);
}

// Combines, from each row on, `size` rows that lie `dilation` apart, as far as there are that many:
// twice as many in each step.
absl::StatusOr<Tensor> CombineRows(const Tensor& rows, int64_t columns, int64_t size,
                                   int64_t dilation, ElementFunction combine) {
  const int64_t count = rows.num_elements() / columns;
  const int64_t results = count - (size - 1) * dilation;
  // All steps compute as many rows, so that the function is called with few different lengths;
  // those that reach beyond the end are not used.
  TENON_ASSIGN_OR_RETURN(Tensor sums, Tensor::Allocate(rows.dtype(), Shape({2 * count * columns})));
  MoveElements(rows, 0, sums, 0, count * columns);
  MoveElements(rows, 0, sums, count * columns, count * columns);
  Tensor result;
  int64_t done = 0, width = 1;
  for (int64_t left = size; left > 0; left /= 2, width *= 2) {
    if (left % 2 != 0) {
      const Tensor part = Part(sums, done * dilation * columns, results * columns);
      if (done == 0) {
        TENON_ASSIGN_OR_RETURN(result, part.Clone());
      } else {
        TENON_ASSIGN_OR_RETURN(result, Combined(combine, result, part));
      }
      done += width;
    }
    if (left == 1) break;
    const int64_t all = count * columns;
    TENON_ASSIGN_OR_RETURN(
        const Tensor doubled,
        Combined(combine, Part(sums, 0, all), Part(sums, width * dilation * columns, all)));
    MoveElements(doubled, 0, sums, 0, all);
  }
  return result;
}

// Windows along one dimension.
absl::StatusOr<Tensor> CombineAlong(const Tensor& in, int d, const MovingWindow& window,
                                    int64_t positions, ElementFunction combine) {
  const Shape& shape = in.shape();
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < d; ++i) outer *= shape.dim(i);
  for (int i = d + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
  const int64_t rows = shape.dim(d), columns = outer * inner, stride = window.steps.stride;
  Tensor arranged = in;
  if (outer > 1) {
    TENON_ASSIGN_OR_RETURN(arranged, Tensor::Allocate(in.dtype(), Shape({rows, outer, inner})));
    StridedCopy({rows, outer, inner}, {inner, rows * inner, 1}, {columns, inner, 1})
        .Run(in.dtype(), in.raw(), arranged.raw());
  }
  TENON_ASSIGN_OR_RETURN(const Tensor combined, CombineRows(arranged, columns, window.size,
                                                            window.steps.rhs_dilation, combine));
  Shape out = shape;
  out.set_dim(d, positions);
  TENON_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(in.dtype(), out));
  StridedCopy({outer, positions, inner}, {inner, stride * columns, 1},
              {positions * inner, inner, 1})
      .Run(in.dtype(), combined.raw(), result.raw());
  return result;
}

}  // namespace

absl::StatusOr<std::vector<MovingWindow>> MakeWindows(const Tensor& dimensions,
                                                      const Tensor& strides,
                                                      const Tensor* base_dilations,
                                                      const Tensor* window_dilations,
                                                      const Tensor& padding, int rank) {
  const Shape vector({rank});
  for (const Tensor* t : {&dimensions, &strides, base_dilations, window_dilations}) {
    if (t != nullptr && t->shape() != vector) {
      return InvalidArgument("windows, strides and dilations must be vectors of ", rank,
                             " elements, but one has shape ", t->shape().ToString());
    }
  }
  if (padding.shape() != Shape({rank, 2})) {
    return InvalidArgument("padding must have shape [", rank, ",2], but has ",
                           padding.shape().ToString());
  }
  const DimList ones(static_cast<size_t>(rank), 1);
  DimList base = ones, dilation = ones;
  TENON_ASSIGN_OR_RETURN(const DimList sizes, IntegersOf(dimensions));
  TENON_ASSIGN_OR_RETURN(const DimList steps, IntegersOf(strides));
  TENON_ASSIGN_OR_RETURN(const DimList pads, IntegersOf(padding));
  if (base_dilations != nullptr) {
    TENON_ASSIGN_OR_RETURN(base, IntegersOf(*base_dilations));
  }
  if (window_dilations != nullptr) {
    TENON_ASSIGN_OR_RETURN(dilation, IntegersOf(*window_dilations));
  }
  std::vector<MovingWindow> windows;
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (int64_t v : {sizes[i], steps[i], base[i], dilation[i]}) {
      if (v < 1 || v > kMostWindow) return InvalidArgument("a window or stride of ", v);
    }
    windows.push_back({sizes[i], {steps[i], pads[2 * i], pads[2 * i + 1], base[i], dilation[i]}});
  }
  return windows;
}

absl::StatusOr<Shape> WindowPositions(const std::vector<MovingWindow>& windows, const Shape& in) {
  Shape out;
  for (size_t i = 0; i < windows.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(
        const int64_t positions,
        windows[i].steps.Positions(in.dim(static_cast<int>(i)), windows[i].size));
    out.push_back(positions);
  }
  return out;
}

absl::StatusOr<Tensor> ReduceWindowByFunction(absl::Span<const Tensor> inputs,
                                              ElementFunction computation) {
  const Tensor &in = inputs[0], &init = inputs[1];
  TENON_ASSIGN_OR_RETURN(
      const std::vector<MovingWindow> windows,
      MakeWindows(inputs[2], inputs[3], &inputs[4], &inputs[5], inputs[6], in.shape().rank()));
  TENON_ASSIGN_OR_RETURN(const Shape out, WindowPositions(windows, in.shape()));
  TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  TENON_ASSIGN_OR_RETURN(Tensor result, Repeat(init, out.num_elements()));
  if (out.num_elements() == 0) return result.Reshaped(out);
  const Shape reached = Reached(windows, in.shape(), out);
  if (reached.has_rank()) {
    TENON_ASSIGN_OR_RETURN(Tensor elements, Padded(in, windows, reached, init));
    for (size_t d = windows.size(); d-- > 0;) {
      const int64_t positions = out.dim(static_cast<int>(d));
      if (windows[d].size == 1 && windows[d].steps.stride == 1) continue;
      TENON_ASSIGN_OR_RETURN(elements, CombineAlong(elements, static_cast<int>(d), windows[d],
                                                    positions, computation));
    }
    TENON_ASSIGN_OR_RETURN(elements, elements.Reshaped(Shape({out.num_elements()})));
    TENON_ASSIGN_OR_RETURN(result, Combined(computation, result, elements));
    return result.Reshaped(out);
  }
  for (WindowWalk walk(windows, in.shape(), out); !walk.done(); walk.Next()) {
    TENON_ASSIGN_OR_RETURN(const Tensor elements, Take(in, walk.Positions(), &init));
    TENON_ASSIGN_OR_RETURN(result, Combined(computation, result, elements));
  }
  return result.Reshaped(out);
}

absl::StatusOr<Tensor> SelectAndScatterByFunction(absl::Span<const Tensor> inputs,
                                                  ElementFunction select, ElementFunction scatter) {
  const Tensor &operand = inputs[0], &source = inputs[4], &init = inputs[5];
  TENON_ASSIGN_OR_RETURN(
      const std::vector<MovingWindow> windows,
      MakeWindows(inputs[1], inputs[2], nullptr, nullptr, inputs[3], operand.shape().rank()));
  TENON_ASSIGN_OR_RETURN(const Shape out, WindowPositions(windows, operand.shape()));
  if (source.shape() != out) {
    return InvalidArgument("source must have the shape of the window's positions, ", out.ToString(),
                           ", but has ", source.shape().ToString());
  }
  // By position of the window: the element that is selected so far.
  std::vector<int64_t> selected(static_cast<size_t>(out.num_elements()), -1);
  WindowWalk walk(windows, operand.shape(), out);
  for (; !walk.done() && !selected.empty(); walk.Next()) {
    const std::vector<int64_t> next = walk.Positions();
    std::vector<int64_t> held, tried, slots;
    for (size_t i = 0; i < next.size(); ++i) {
      if (next[i] < 0) continue;
      if (selected[i] < 0) {
        selected[i] = next[i];
        continue;
      }
      held.push_back(selected[i]);
      tried.push_back(next[i]);
      slots.push_back(static_cast<int64_t>(i));
    }
    if (slots.empty()) continue;
    PadToPowerOfTwo(held);
    PadToPowerOfTwo(tried);
    TENON_ASSIGN_OR_RETURN(const Tensor a, Take(operand, held));
    TENON_ASSIGN_OR_RETURN(const Tensor b, Take(operand, tried));
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> keep, select({a, b}));
    if (keep.size() != 1 || keep[0].dtype() != DType::kBool) {
      return InvalidArgument("the function 'select' must give a bool");
    }
    for (size_t i = 0; i < slots.size(); ++i) {
      if (!keep[0].data<bool>()[i]) selected[static_cast<size_t>(slots[i])] = tried[i];
    }
  }
  TENON_ASSIGN_OR_RETURN(Tensor result, Repeat(init, operand.num_elements()));
  TENON_RETURN_IF_ERROR(ScatterInRounds(selected, source, scatter, result));
  return result.Reshaped(operand.shape());
}

}  // namespace tenon
