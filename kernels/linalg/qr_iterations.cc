#include "kernels/linalg/qr_iterations.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd/rotations_simd.h"

namespace tenon {
namespace {

// Iterations per value; two are usual.
constexpr size_t kMostIterations = 40;

// The rotation that turns (x, y) into (r, 0).
struct Turn {
  double c, s, r;
};
Turn TurnOf(double x, double y) {
  const double r = std::sqrt(x * x + y * y);
  if (r == 0) return {1, 0, 0};
  return {x / r, y / r, r};
}

template <typename R>
void Add(const Turn& turn, std::vector<R>& turns) {
  turns.push_back(static_cast<R>(turn.c));
  turns.push_back(static_cast<R>(turn.s));
}

// Whether x is nothing beside its neighbors.
template <typename R>
bool Negligible(double x, double neighbors) {
  // Below the least float squared, nothing counts.
  constexpr double kEpsilon = std::numeric_limits<R>::epsilon() / 2, kTiny = 1e-90;
  return std::abs(x) <= kEpsilon * neighbors || std::abs(x) < kTiny;
}

// The eigenvalue of the last two rows that is nearer to the last element.
double WilkinsonShift(double before, double beside, double last) {
  const double half = (before - last) / 2;
  const double root = std::sqrt(half * half + beside * beside);
  const double sum = half >= 0 ? half + root : half - root;
  return sum == 0 ? last : last - beside * beside / sum;
}

// One step for the rows begin … end of a tridiagonal matrix.
template <typename R>
void TridiagonalStep(size_t begin, size_t end, std::vector<double>& d, std::vector<double>& e,
                     std::vector<R>& turns) {
  double x = d[begin] - WilkinsonShift(d[end - 1], e[end - 1], d[end]), z = e[begin];
  turns.clear();
  for (size_t k = begin; k < end; ++k) {
    const Turn t = TurnOf(x, z);
    Add(t, turns);
    if (k > begin) e[k - 1] = t.r;
    const double a = d[k], b = e[k], f = d[k + 1], cs = t.c * t.s;
    d[k] = t.c * t.c * a + 2 * cs * b + t.s * t.s * f;
    d[k + 1] = t.s * t.s * a - 2 * cs * b + t.c * t.c * f;
    e[k] = x = cs * (f - a) + (t.c * t.c - t.s * t.s) * b;
    if (k + 1 < end) {
      z = t.s * e[k + 1];
      e[k + 1] *= t.c;
    }
  }
}

// The singular values of a bidiagonal matrix, one after the other from the last one on.
template <typename R>
class Bidiagonal {
 public:
  Bidiagonal(std::vector<double>& d, std::vector<double>& e, RotatedColumns<R>* u,
             RotatedColumns<R>* v)
      : d_(d), e_(e), u_(u), v_(v) {}

  bool Run() {
    if (d_.empty()) return true;
    size_t iterations = 0;
    for (size_t end = d_.size() - 1; end > 0;) {
      size_t begin = end;  // of the rows up to `end` that are not separate from it
      while (begin > 0 && !IsSeparate(begin - 1)) --begin;
      if (begin == end) {
        --end;
        continue;
      }
      if (++iterations > kMostIterations * d_.size()) return false;
      if (!SplitAtZero(begin, end)) Step(begin, end);
    }
    for (size_t k = 0; k < d_.size(); ++k) {
      if (std::isnan(d_[k])) return false;
      if (!std::signbit(d_[k])) continue;
      d_[k] = -d_[k];
      if (v_ != nullptr) v_->Negate(k);
    }
    return true;
  }

 private:
  bool IsSeparate(size_t k) {
    if (!Negligible<R>(e_[k], std::abs(d_[k]) + std::abs(d_[k + 1]))) return false;
    e_[k] = 0;
    return true;
  }

  // A zero on the diagonal separates rows when the element beside it is rotated away.
  bool SplitAtZero(size_t begin, size_t end) {
    for (size_t k = end + 1; k-- > begin;) {
      const double before = k > begin ? std::abs(e_[k - 1]) : 0,
                   after = k < end ? std::abs(e_[k]) : 0;
      if (!Negligible<R>(d_[k], before + after)) continue;
      d_[k] = 0;
      if (k < end) {
        ClearRow(k, end);
      } else {
        ClearColumn(begin, end);
      }
      return true;
    }
    return false;
  }

  // d[k] is 0: rotates row k with those below it.
  void ClearRow(size_t k, size_t end) {
    double f = e_[k];
    e_[k] = 0;
    for (size_t j = k + 1; j <= end && f != 0; ++j) {
      const Turn t = TurnOf(d_[j], f);
      d_[j] = t.r;
      if (u_ != nullptr) u_->RotatePair(j, k, t.c, t.s);
      if (j == end) break;
      f = -t.s * e_[j];
      e_[j] *= t.c;
    }
  }

  // d[end] is 0: rotates the last column with those before it.
  void ClearColumn(size_t begin, size_t end) {
    double f = e_[end - 1];
    e_[end - 1] = 0;
    for (size_t j = end; j-- > begin && f != 0;) {
      const Turn t = TurnOf(d_[j], f);
      d_[j] = t.r;
      if (v_ != nullptr) v_->RotatePair(j, end, t.c, t.s);
      if (j == begin) break;
      f = -t.s * e_[j - 1];
      e_[j - 1] *= t.c;
    }
  }

  // The step of the tridiagonal matrix A^T A, on A itself.
  void Step(size_t begin, size_t end) {
    const double before = end - 1 > begin ? e_[end - 2] : 0;
    const double shift =
        WilkinsonShift(d_[end - 1] * d_[end - 1] + before * before, d_[end - 1] * e_[end - 1],
                       d_[end] * d_[end] + e_[end - 1] * e_[end - 1]);
    double f = d_[begin] * d_[begin] - shift, g = d_[begin] * e_[begin];
    left_.clear();
    right_.clear();
    for (size_t k = begin; k < end; ++k) {
      const Turn right = TurnOf(f, g);
      Add(right, right_);
      if (k > begin) e_[k - 1] = right.r;
      f = right.c * d_[k] + right.s * e_[k];
      e_[k] = right.c * e_[k] - right.s * d_[k];
      g = right.s * d_[k + 1];
      d_[k + 1] *= right.c;
      const Turn left = TurnOf(f, g);
      Add(left, left_);
      d_[k] = left.r;
      f = left.c * e_[k] + left.s * d_[k + 1];
      d_[k + 1] = left.c * d_[k + 1] - left.s * e_[k];
      if (k + 1 < end) {
        g = left.s * e_[k + 1];
        e_[k + 1] *= left.c;
      }
    }
    e_[end - 1] = f;
    if (u_ != nullptr) u_->Rotate(begin, left_);
    if (v_ != nullptr) v_->Rotate(begin, right_);
  }

  std::vector<double>&d_, &e_;
  RotatedColumns<R>*const u_, *const v_;
  std::vector<R> left_, right_;
};

}  // namespace

template <typename R>
RotatedColumns<R>::RotatedColumns(int64_t n) : n_(static_cast<size_t>(n)) {
  constexpr size_t kNumbers = kColumnBytes / sizeof(R);
  stride_ = (n_ + kNumbers - 1) / kNumbers * kNumbers;
  values_.assign(n_ * stride_, R(0));
  for (size_t k = 0; k < n_; ++k) column(k)[k] = 1;
}

template <typename R>
void RotatedColumns<R>::Rotate(size_t first, const std::vector<R>& turns) {
  FindRotateColumns<R>()(turns.data(), turns.size() / 2, column(first), stride_, n_);
}

template <typename R>
void RotatedColumns<R>::RotatePair(size_t x, size_t y, double c, double s) {
  R *const a = column(x), *const b = column(y);
  const R cosine = static_cast<R>(c), sine = static_cast<R>(s);
  for (size_t i = 0; i < n_; ++i) {
    const R old = a[i];
    a[i] = cosine * old + sine * b[i];
    b[i] = cosine * b[i] - sine * old;
  }
}

template <typename R>
void RotatedColumns<R>::Negate(size_t k) {
  std::transform(column(k), column(k) + n_, column(k), [](R v) { return -v; });
}

template <typename R>
bool DiagonalizeTridiagonal(std::vector<double>& d, std::vector<double>& e, RotatedColumns<R>* q) {
  std::vector<R> turns;
  size_t iterations = 0;
  for (size_t end = d.empty() ? 0 : d.size() - 1; end > 0;) {
    // As in Eigen, so that vectors get the same signs: they depend on the number of steps.
    const auto is_separate = [&](size_t k) {
      const double scaled = e[k] / std::numeric_limits<R>::epsilon();
      if (!(scaled * scaled <= std::abs(d[k]) + std::abs(d[k + 1]))) return false;
      e[k] = 0;
      return true;
    };
    size_t begin = end;
    while (begin > 0 && !is_separate(begin - 1)) --begin;
    if (begin == end) {
      --end;
      continue;
    }
    if (++iterations > kMostIterations * d.size()) return false;
    TridiagonalStep(begin, end, d, e, turns);
    if (q != nullptr) q->Rotate(begin, turns);
  }
  return true;
}

template <typename R>
bool DiagonalizeBidiagonal(std::vector<double>& d, std::vector<double>& e, RotatedColumns<R>* u,
                           RotatedColumns<R>* v) {
  return Bidiagonal<R>(d, e, u, v).Run();
}

template class RotatedColumns<float>;
template class RotatedColumns<double>;
template bool DiagonalizeTridiagonal(std::vector<double>&, std::vector<double>&,
                                     RotatedColumns<float>*);
template bool DiagonalizeTridiagonal(std::vector<double>&, std::vector<double>&,
                                     RotatedColumns<double>*);
template bool DiagonalizeBidiagonal(std::vector<double>&, std::vector<double>&,
                                    RotatedColumns<float>*, RotatedColumns<float>*);
template bool DiagonalizeBidiagonal(std::vector<double>&, std::vector<double>&,
                                    RotatedColumns<double>*, RotatedColumns<double>*);

}  // namespace tenon
