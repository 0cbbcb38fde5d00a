#include "kernels/linalg/matrix_function.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/linalg/matrices.h"
#include "kernels/linalg/real_square_root.h"
#include "kernels/linalg/schur.h"

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

Matrix<complex128> SquareRoot(const Matrix<complex128>& m) { return m.sqrt(); }

// NaN if it is not real, because an eigenvalue is below 0.
Matrix<double> SquareRootOfReal(const Matrix<double>& m) {
  if (const auto root = RealSquareRoot(m); root.has_value()) return *root;
  const Matrix<complex128> root = SquareRoot(m.cast<complex128>());
  // An eigenvalue of 0 may be computed as -epsilon, and its root is i * sqrt(epsilon).
  const double rounding = std::sqrt(Eigen::NumTraits<double>::epsilon() * m.norm());
  if (root.imag().cwiseAbs().maxCoeff() <= 4 * rounding) return root.real();
  return Matrix<double>::Constant(m.rows(), m.cols(), std::numeric_limits<double>::quiet_NaN());
}

template <typename S>
Matrix<S> Exponential(const Matrix<S>& m) {
  return m.exp();
}

Matrix<complex128> Logarithm(const Matrix<complex128>& m) {
  Matrix<complex128> out = m;
  BlockLogarithm logarithm;
  Eigen::internal::matrix_function_compute<Matrix<complex128>>::run(m, logarithm, out);
  return out;
}

// Applies `function` to each matrix, computed in S.
template <typename S>
absl::StatusOr<std::unique_ptr<Kernel>> ForEachMatrix(PrepareContext& p,
                                                      Matrix<S> (*function)(const Matrix<S>&)) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) {
    if (batch.size() == 0) return absl::OkStatus();
    for (int64_t b = 0; b < batch.count; ++b) {
      Matrix<S> m = LoadMatrix<S>(dtype, run.input(0), batch, b);
      // Eigen's iterations need not end for infinities and NaN.
      if (m.allFinite()) {
        m = function(m);
      } else {
        m.setConstant(S(std::numeric_limits<double>::quiet_NaN()));
      }
      StoreMatrix(m, dtype, run.output(0), b);
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MatrixSquareRoot(PrepareContext& p) {
  if (WideDType(p.input_dtype(0)) == DType::kDouble) {
    return ForEachMatrix<double>(p, SquareRootOfReal);
  }
  return ForEachMatrix<complex128>(p, SquareRoot);
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixLogarithm(PrepareContext& p) {
  return ForEachMatrix<complex128>(p, Logarithm);
}

absl::StatusOr<std::unique_ptr<Kernel>> MatrixExponential(PrepareContext& p) {
  return DispatchType(WideScalars{}, WideDType(p.input_dtype(0)),
                      [&]<typename S>() { return ForEachMatrix<S>(p, Exponential<S>); });
}

}  // namespace tenon
