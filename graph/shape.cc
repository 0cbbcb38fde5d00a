#include "graph/shape.h"

#include <algorithm>
#include <limits>

#include "env/status.h"

namespace tenon {

bool Shape::IsComplete() const {
  return !unknown_rank_ &&
         std::all_of(dims_.begin(), dims_.end(), [](int64_t d) { return d >= 0; });
}

int64_t Shape::num_elements() const {
  if (!IsComplete()) return -1;
  int64_t n = 1;
  bool fits = true;
  for (int64_t d : dims_) {
    if (d == 0) return 0;
    fits &= !__builtin_mul_overflow(n, d, &n);
  }
  return fits ? n : std::numeric_limits<int64_t>::max();
}

absl::StatusOr<int64_t> Shape::CheckedElements() const {
  if (!IsComplete()) return InvalidArgument("shape ", ToString(), " is not fully known");
  // The product without empty dimensions must fit as well, so that the product of any subset of the
  // dimensions fits.
  int64_t n = 1;
  bool empty = false;
  for (int64_t d : dims_) {
    empty |= d == 0;
    if (d > 0 && __builtin_mul_overflow(n, d, &n)) {
      return InvalidArgument("shape ", ToString(), " has more elements than 64 bits can count");
    }
  }
  return empty ? 0 : n;
}

bool Shape::CompatibleWith(const Shape& other) const {
  if (unknown_rank_ || other.unknown_rank_) return true;
  if (rank() != other.rank()) return false;
  for (int i = 0; i < rank(); ++i) {
    if (dim(i) >= 0 && other.dim(i) >= 0 && dim(i) != other.dim(i)) return false;
  }
  return true;
}

std::string Shape::ToString() const {
  if (unknown_rank_) return "?";
  std::string out = "[";
  for (int i = 0; i < rank(); ++i) {
    if (i > 0) out += ",";
    if (dim(i) < 0) {
      out += "?";
    } else {
      absl::StrAppend(&out, dim(i));
    }
  }
  return out + "]";
}

absl::StatusOr<Shape> MergeShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (!a.CompatibleWith(b)) {
    return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(), " do not agree");
  }
  Shape out = a;
  for (int i = 0; i < out.rank(); ++i) {
    if (out.dim(i) < 0) out.set_dim(i, b.dim(i));
  }
  return out;
}

absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::Unknown();
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::UnknownOfRank(rank);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank());
    const int ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a.dim(ia);
    const int64_t db = ib < 0 ? 1 : b.dim(ib);
    int64_t d;
    if (da == db) {
      d = da;
    } else if (da == 1) {
      d = db;
    } else if (db == 1) {
      d = da;
    } else if (da < 0) {
      d = db;  // the unknown side must be 1 or equal
    } else if (db < 0) {
      d = da;
    } else {
      return InvalidArgument("Incompatible shapes: ", a.ToString(), " vs. ", b.ToString());
    }
    out.set_dim(i, d);
  }
  return out;
}

}  // namespace tenon
