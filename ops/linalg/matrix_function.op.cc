// MatrixSquareRoot, MatrixLogarithm: the function of each matrix, by its Schur form in double
// precision.
#include <Eigen/Dense>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/linalg/systems.h"
#include "ops/linalg/matrix_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

enum class Function { kSquareRoot, kLogarithm };

// The logarithm of a triangular block with eigenvalues that are close together, as Eigen's
// matrix_function_compute asks for it. Eigen takes square roots until one is near the identity;
// with an eigenvalue of 0 none ever is, and the block has no logarithm.
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

template <Function function>
absl::StatusOr<std::unique_ptr<Kernel>> MatrixFunction(PrepareContext& p) {
  const MatrixBatch batch = BatchOf(p.input_shape(0));
  using Result = absl::StatusOr<std::unique_ptr<Kernel>>;
  return DispatchType(MatrixTypes{}, p.input_dtype(0), [&]<typename T>() -> Result {
    if constexpr (function != Function::kLogarithm || kIsComplex<T>) {
      return MakeKernel([batch](RunContext& run) {
        if (batch.size() == 0) return absl::OkStatus();
        for (int64_t b = 0; b < batch.count; ++b) {
          const int64_t at = b * batch.size();
          const Matrix<WideType<T>> m = LoadWide(run.input<T>(0) + at, batch.rows, batch.cols);
          Matrix<WideType<T>> out = m;
          // Eigen's iterations need not end for infinities and NaN.
          if (!m.allFinite()) {
            out.setConstant(WideType<T>(std::numeric_limits<double>::quiet_NaN()));
          } else if constexpr (function == Function::kSquareRoot) {
            out = m.sqrt();
          } else {
            BlockLogarithm logarithm;
            Eigen::internal::matrix_function_compute<Matrix<WideType<T>>>::run(m, logarithm, out);
          }
          StoreMatrix(out.template cast<ComputeType<T>>(), run.output<T>(0) + at);
        }
        return absl::OkStatus();
      });
    } else {
      return NoKernelFor(p.input_dtype(0));
    }
  });
}

const OpRegistration matrix_square_root_op({
    .name = "MatrixSquareRoot",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: double float half complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = MatrixFunction<Function::kSquareRoot>,
});

const OpRegistration matrix_logarithm_op({
    .name = "MatrixLogarithm",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .types = "T: complex64 complex128",
    .shape = SquareToSquareShape,
    .reference = MatrixFunction<Function::kLogarithm>,
});

}  // namespace
}  // namespace tenon
