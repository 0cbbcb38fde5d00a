#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/matmul/product.h"

namespace tenon {
namespace {

// Labels that matter: extents of 1 change nothing.
struct Groups {
  std::vector<int> batch, rows, columns, contracted;
};

bool Stands(const LabeledTensor& t, int label, int64_t extent) {
  const LabeledTensor::Dim* d = t.Find(label);
  return d != nullptr && d->extent == extent;
}

int64_t StrideOf(const LabeledTensor& t, int label) {
  const LabeledTensor::Dim* d = t.Find(label);
  return d == nullptr ? 0 : d->stride;
}

// Whether `inner` follows `outer` in memory without a gap.
bool Joins(const LabeledTensor& t, const LabeledProduct& p, int outer, int inner) {
  return StrideOf(t, outer) == StrideOf(t, inner) * p.extent(inner);
}

// Splits `labels` (outer to inner) into the longest tail that is a single dimension in both
// tensors, and the rest.
std::vector<int> TakeJoinedTail(const LabeledProduct& p, const LabeledTensor& x,
                                const LabeledTensor& y, std::vector<int>& labels) {
  std::vector<int> tail;
  while (!labels.empty()) {
    if (!tail.empty() &&
        !(Joins(x, p, labels.back(), tail.front()) && Joins(y, p, labels.back(), tail.front()))) {
      break;
    }
    tail.insert(tail.begin(), labels.back());
    labels.pop_back();
  }
  return tail;
}

int64_t ExtentOf(const LabeledProduct& p, const std::vector<int>& joined) {
  int64_t n = 1;
  for (int label : joined) n *= p.extent(label);
  return n;
}

absl::StatusOr<Groups> GroupsOf(const LabeledProduct& p) {
  Groups g;
  for (const LabeledTensor::Dim& d : p.out.dims) {
    if (d.extent == 1) continue;
    const bool a = Stands(p.a, d.label, d.extent), b = Stands(p.b, d.label, d.extent);
    if (!a && !b) return Unimplemented("an output dimension comes from neither operand");
    (a && b ? g.batch : a ? g.rows : g.columns).push_back(d.label);
  }
  for (const LabeledTensor::Dim& d : p.a.dims) {
    if (d.extent == 1 || p.out.Find(d.label) != nullptr) continue;
    if (!Stands(p.b, d.label, d.extent)) return Unimplemented("sums over one operand alone");
    g.contracted.push_back(d.label);
  }
  for (const LabeledTensor::Dim& d : p.b.dims) {
    if (d.extent == 1 || p.out.Find(d.label) != nullptr) continue;
    if (!Stands(p.a, d.label, d.extent)) return Unimplemented("sums over one operand alone");
  }
  return g;
}

}  // namespace

absl::StatusOr<LoweredProduct> LowerProduct(const LabeledProduct& product, ElementType type) {
  if (!product.has_b) return Unimplemented("one operand");
  if (product.a.HasRepeatedLabel() || product.b.HasRepeatedLabel() ||
      product.out.HasRepeatedLabel()) {
    return Unimplemented("diagonals");
  }
  LoweredProduct lowered;
  LabeledProduct p = product;
  TENON_ASSIGN_OR_RETURN(Groups g, GroupsOf(p));

  // The output's innermost dimension must be the columns.
  int innermost = -1;
  for (const LabeledTensor::Dim& d : p.out.dims) {
    if (d.extent > 1) innermost = d.label;
  }
  auto has = [innermost](const std::vector<int>& labels) {
    return std::find(labels.begin(), labels.end(), innermost) != labels.end();
  };
  if (innermost >= 0 && has(g.batch)) return Unimplemented("the output ends in a batch dimension");
  if (innermost >= 0 && has(g.rows)) {
    std::swap(p.a, p.b);
    std::swap(g.rows, g.columns);
    lowered.swapped = true;
  }

  // Contracted labels must form one dimension, in a's order or in b's.
  auto by_stride = [](const LabeledTensor& t) {
    return [&t](int x, int y) { return StrideOf(t, x) > StrideOf(t, y); };
  };
  std::sort(g.contracted.begin(), g.contracted.end(), by_stride(p.a));
  std::vector<int> left = g.contracted;
  const std::vector<int> k = TakeJoinedTail(p, p.a, p.b, left);
  if (!left.empty()) return Unimplemented("contracted dimensions that strides cannot join");

  // Rows and columns that cannot be merged become batch dimensions, broadcast on the other side.
  const std::vector<int> m = TakeJoinedTail(p, p.a, p.out, g.rows);
  const std::vector<int> n = TakeJoinedTail(p, p.b, p.out, g.columns);
  std::vector<std::vector<int>> batch;
  for (const LabeledTensor::Dim& d : p.out.dims) {
    auto in = [&d](const std::vector<int>& labels) {
      return std::find(labels.begin(), labels.end(), d.label) != labels.end();
    };
    if (!in(g.batch) && !in(g.rows) && !in(g.columns)) continue;
    // Batch dimensions are merged too, if all three tensors allow it.
    if (!batch.empty()) {
      const int outer = batch.back().back();
      auto joins = [&](const LabeledTensor& t) {
        const bool x = Stands(t, outer, p.extent(outer)), y = Stands(t, d.label, d.extent);
        return x == y && (!x || Joins(t, p, outer, d.label));
      };
      if (joins(p.a) && joins(p.b) && joins(p.out)) {
        batch.back().push_back(d.label);
        continue;
      }
    }
    batch.push_back({d.label});
  }
  if (batch.size() > 10) return Unimplemented("too many batch dimensions");

  auto describe = [&](const LabeledTensor& t, const std::vector<int>& rows,
                      const std::vector<int>& columns) {
    TensorDesc d;
    d.type = type;
    for (const std::vector<int>& b : batch) {
      const bool stands = Stands(t, b.back(), p.extent(b.back()));
      d.dims.push_back(stands ? ExtentOf(p, b) : 1);
      d.strides.push_back(stands ? StrideOf(t, b.back()) : 0);
    }
    for (const std::vector<int>* joined : {&rows, &columns}) {
      d.dims.push_back(ExtentOf(p, *joined));
      d.strides.push_back(joined->empty() ? 0 : StrideOf(t, joined->back()));
    }
    // Strides of single-element dimensions do not matter, but oneDNN derives layouts from them: set
    // them as if the tensor were dense.
    const size_t rank = d.dims.size();
    if (d.strides[rank - 1] == 0) d.strides[rank - 1] = 1;
    if (d.strides[rank - 2] == 0) {
      d.strides[rank - 2] = std::max<int64_t>(d.strides[rank - 1] * d.dims[rank - 1], 1);
      if (d.strides[rank - 1] > 1) d.strides[rank - 2] = 1;
    }
    for (size_t i = rank - 2; i-- > 0;) {
      if (d.strides[i] == 0) d.strides[i] = d.strides[i + 1] * d.dims[i + 1];
    }
    return d;
  };
  lowered.problem.src = describe(p.a, m, k);
  lowered.problem.weights = describe(p.b, k, n);
  lowered.problem.dst = describe(p.out, m, n);
  const TensorDesc& dst = lowered.problem.dst;
  if (dst.strides.back() != 1) return Unimplemented("columns that are not adjacent");

  auto axes_of = [&p](const std::vector<int>& joined) {
    std::vector<int> axes;
    for (int label : joined) {
      for (size_t i = 0; i < p.out.dims.size(); ++i) {
        if (p.out.dims[i].label == label) axes.push_back(static_cast<int>(i));
      }
    }
    return axes;
  };
  for (const std::vector<int>& b : batch) lowered.out_axes.push_back(axes_of(b));
  lowered.out_axes.push_back(axes_of(m));
  lowered.out_axes.push_back(axes_of(n));
  return lowered;
}

absl::StatusOr<TensorDesc> LowerOperand(const LoweredProduct& lowered, const Shape& output,
                                        const Shape& operand) {
  // The operand's extents and strides along the output's axes.
  const int rank = output.rank();
  Dims extents(static_cast<size_t>(rank), 1), strides(static_cast<size_t>(rank), 0);
  int64_t stride = 1;
  for (int i = operand.rank(); i-- > 0;) {
    const size_t axis = static_cast<size_t>(rank - operand.rank() + i);
    extents[axis] = operand[i];
    strides[axis] = stride;
    stride *= operand[i];
  }
  TensorDesc d;
  d.type = lowered.problem.dst.type;
  for (const std::vector<int>& axes : lowered.out_axes) {
    int64_t extent = 1, inner_stride = 0, next_stride = 0;
    bool broadcast = false;
    for (size_t i = axes.size(); i-- > 0;) {
      const size_t axis = static_cast<size_t>(axes[i]);
      if (output[axes[i]] == 1) continue;
      if (extents[axis] == 1) {
        broadcast = true;
        continue;
      }
      if (broadcast) return Unimplemented("broadcast inside a joined dimension");
      if (extent > 1 && strides[axis] != next_stride) {
        return Unimplemented("the operand's dimensions do not join");
      }
      if (extent == 1) inner_stride = strides[axis];
      extent *= extents[axis];
      next_stride = strides[axis] * extents[axis];
    }
    if (broadcast && extent > 1) return Unimplemented("broadcast inside a joined dimension");
    d.dims.push_back(extent);
    d.strides.push_back(inner_stride);
  }
  int64_t dense = 1;
  for (size_t i = d.dims.size(); i-- > 0;) {
    if (d.strides[i] == 0) d.strides[i] = dense;
    dense = d.strides[i] * d.dims[i];
  }
  return d;
}

}  // namespace tenon
