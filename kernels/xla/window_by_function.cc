#include <algorithm>

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "kernels/layout/strided_copy.h"
#include "kernels/xla/element_calls.h"
#include "kernels/xla/elements.h"
#include "kernels/xla/scatter_in_rounds.h"

namespace tenon {
namespace {

constexpr int64_t kMostWindow = int64_t{1} << 31;

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
  WindowWalk walk(windows, in.shape(), out);
  for (; !walk.done() && out.num_elements() > 0; walk.Next()) {
    TENON_ASSIGN_OR_RETURN(const Tensor elements, Take(in, walk.Positions(), &init));
    TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, computation({result, elements}));
    if (results.size() != 1 || results[0].dtype() != in.dtype()) {
      return InvalidArgument("the computation does not give a result of its arguments' dtype");
    }
    result = std::move(results[0]);
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
