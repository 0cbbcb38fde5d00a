// A shape, complete or partial: a dimension of -1 is unknown, and the rank itself may be unknown.
//
//   Shape s({2, -1, 3});   s.rank() == 3, !s.IsComplete(), s.ToString() == "[2,?,3]"
//   Shape::Unknown()       nothing is known: ToString() == "?"
#ifndef TENON_GRAPH_SHAPE_H_
#define TENON_GRAPH_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {

class Shape {
 public:
  using Dims = absl::InlinedVector<int64_t, 6>;

  Shape() = default;  // a scalar
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(absl::Span<const int64_t> dims) : dims_(dims.begin(), dims.end()) {}
  static Shape Unknown() {
    Shape s;
    s.unknown_rank_ = true;
    return s;
  }
  static Shape UnknownOfRank(int rank) {
    Shape s;
    s.dims_.assign(static_cast<size_t>(rank), -1);
    return s;
  }

  bool has_rank() const { return !unknown_rank_; }
  // 0 if the rank is unknown: check has_rank() first.
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t operator[](int i) const { return dim(i); }
  void set_dim(int i, int64_t value) { dims_[static_cast<size_t>(i)] = value; }
  void push_back(int64_t value) { dims_.push_back(value); }
  void insert(int i, int64_t value) { dims_.insert(dims_.begin() + i, value); }
  void erase(int i) { dims_.erase(dims_.begin() + i); }
  absl::Span<const int64_t> dims() const { return dims_; }

  // True if the rank and every dimension are known.
  bool IsComplete() const;
  // The product of the dimensions; -1 if not complete. Call CheckedElements() on untrusted shapes.
  int64_t num_elements() const;
  // InvalidArgument for negative dimensions, for partial shapes, and if the product overflows.
  absl::StatusOr<int64_t> CheckedElements() const;

  // Whether the shapes agree in everything that both know.
  bool CompatibleWith(const Shape& other) const;

  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.unknown_rank_ == b.unknown_rank_ && a.dims_ == b.dims_;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    return H::combine(std::move(h), s.unknown_rank_, s.dims_);
  }

 private:
  Dims dims_;
  bool unknown_rank_ = false;
};

// Combines what both shapes know. InvalidArgument if they contradict each other.
absl::StatusOr<Shape> MergeShapes(const Shape& a, const Shape& b);

// NumPy broadcasting. Unknown dimensions give unknown results unless the other side decides.
// InvalidArgument "Incompatible shapes: [2,3] vs. [4,3]".
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace tenon

#endif  // TENON_GRAPH_SHAPE_H_
