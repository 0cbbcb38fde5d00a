#include "kernels/linalg/matrix_function.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/linalg/loops/elimination.h"
#include "kernels/linalg/loops/matrices.h"
#include "kernels/linalg/loops/square_root.h"

namespace tenon {
namespace {

// The logarithm of a triangular block whose eigenvalues are close together, in the form that
// Eigen's matrix_function_compute requires. Eigen takes square roots until one is near the
// identity; with an eigenvalue of 0 none ever is, and the block has no logarithm.
class BlockLogarithm {
 public:
  using Block = Eigen::Matrix<complex128, Eigen::Dynamic, Eigen::Dynamic>;

  Block compute(const Block& block) {
    if (block.rows() > 2 && !RootsReachIdentity(block)) {
      return Block::Constant(block.rows(), block.cols(), std::numeric_limits<double>::quiet_NaN());
    }
    return Eigen::internal::MatrixLogarithmAtomic<Block>().compute(block);
  }

 private:
  static bool RootsReachIdentity(Block t) {
    constexpr double kNear = 0.1;  // less than what Eigen goes on from
    constexpr int kMostRoots = 64;
    const Block identity = Block::Identity(t.rows(), t.cols());
    Block root = t;
    for (int i = 0; i < kMostRoots; ++i) {
      if ((t - identity).cwiseAbs().colwise().sum().maxCoeff() < kNear) return true;
      Eigen::matrix_sqrt_triangular(t, root);
      t = root.triangularView<Eigen::Upper>();
    }
    return false;
  }
};

// NaN if it is not real, because an eigenvalue is below 0.
Matrix<double> SquareRootOfReal(const Matrix<double>& m) {
  if (const auto root = RealSquareRoot(m); root.has_value()) return *root;
  const Matrix<complex128> root = ComplexSquareRoot(m.cast<complex128>());
  // An eigenvalue of 0 may be computed as -epsilon, and its root is i * sqrt(epsilon).
  const double rounding = std::sqrt(Eigen::NumTraits<double>::epsilon() * m.norm());
  if (root.imag().cwiseAbs().maxCoeff() <= 4 * rounding) return root.real();
  return Matrix<double>::Constant(m.rows(), m.cols(), std::numeric_limits<double>::quiet_NaN());
}

// By scaling and squaring (Higham, "The scaling and squaring method for the matrix exponential
// revisited"): exp is the quotient of two polynomials of degree 13, p(m) / p(-m).
template <typename S>
Matrix<S> Exponential(const Matrix<S>& given) {
  constexpr int kDegree = 13;
  constexpr double kLargest = 5.371920351148152;  // sum of a column's sizes for this precision
  const int64_t n = given.rows();
  double norm = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::abs(given(i, j));
    norm = std::max(norm, sum);
  }
  int squarings = 0;
  std::frexp(norm / kLargest, &squarings);
  squarings = std::max(squarings, 0);
  S b[kDegree + 1] = {S(1)};
  for (int j = 0; j < kDegree; ++j) {
    b[j + 1] = b[j] * S(static_cast<double>(kDegree - j) /
                        static_cast<double>((2 * kDegree - j) * (j + 1)));
  }
  const Matrix<S> m = given * S(std::ldexp(1.0, -squarings));
  const Matrix<S> m2 = Product(m, m), m4 = Product(m2, m2), m6 = Product(m4, m2);
  // The odd terms divided by m (k = 1), and the even ones (k = 0).
  const auto terms = [&](int k) {
    const Matrix<S> high = b[k + 12] * m6 + b[k + 10] * m4 + b[k + 8] * m2;
    Matrix<S> sum = Product(m6, high);
    sum += b[k + 6] * m6 + b[k + 4] * m4 + b[k + 2] * m2;
    sum.diagonal().array() += b[k];
    return sum;
  };
  const Matrix<S> odd = Product(m, terms(1)), even = terms(0);
  Matrix<S> out = Solve(FactorLu(Matrix<S>(even - odd)), Matrix<S>(even + odd));
  for (int k = 0; k < squarings; ++k) out = Product(out, out);
  return out;
}

Matrix<complex128> Logarithm(const Matrix<complex128>& m) {
  Matrix<complex128> out = m;
  BlockLogarithm logarithm;
  Eigen::internal::matrix_function_compute<Matrix<complex128>>::run(m, logarithm, out);
  return out;
}

// Applies `function` to each matrix, computed in S.
template <typename S>
absl::StatusOr<std::unique_ptr<Kernel>> KernelOf(PrepareContext& p, double operations,
                                                 Matrix<S> (*function)(const Matrix<S>&)) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    if (batch.size() == 0) return absl::OkStatus();
    return ForMatrices(threads, batch.count, NsOfMatrix(batch, operations), [&](int64_t b) {
      Matrix<S> m = LoadMatrix<S>(dtype, run.input(0), batch, b);
      // Eigen's iterations need not end for infinities and NaN.
      if (m.allFinite()) {
        m = function(m);
      } else {
        m.setConstant(S(std::numeric_limits<double>::quiet_NaN()));
      }
      StoreMatrix(m, dtype, run.output(0), b);
      return absl::OkStatus();
    });
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MatrixSquareRoot(PrepareContext& p) {
  if (WideDType(p.input_dtype(0)) == DType::kDouble) {
    return KernelOf<double>(p, 30, SquareRootOfReal);
  }
  return KernelOf<complex128>(p, 60, ComplexSquareRoot);
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixLogarithm(PrepareContext& p) {
  return KernelOf<complex128>(p, 200, Logarithm);
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixExponential(PrepareContext& p) {
  return DispatchType(WideScalars{}, WideDType(p.input_dtype(0)),
                      [&]<typename S>() { return KernelOf<S>(p, 20, Exponential<S>); });
}

}  // namespace tenon
