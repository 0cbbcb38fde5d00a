// Batches of matrices on several threads: each has the same bits as alone, and the first one that
// fails gives the error.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/linalg/loops/batches.h"
#include "ops/evaluate.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct BatchCase {
  std::string op;
  int inputs;
  friend void PrintTo(const BatchCase& c, std::ostream* os) { *os << c.op; }
};

constexpr int64_t kCount = 37, kSize = 18;

// Symmetric with a large diagonal, so that each of the ops accepts it.
Tensor Matrices(unsigned seed) {
  Tensor t = Uniform({kCount, kSize, kSize}, seed, -1, 1);
  for (int64_t b = 0; b < kCount; ++b) {
    float* const m = t.data<float>() + b * kSize * kSize;
    for (int64_t i = 0; i < kSize; ++i) {
      for (int64_t j = 0; j < i; ++j) m[i * kSize + j] = m[j * kSize + i];
      m[i * kSize + i] += 2 * kSize;
    }
  }
  return t;
}

Tensor MatrixOf(const Tensor& batch, int64_t b) {
  Tensor t = *Tensor::Allocate(batch.dtype(), Shape({1, kSize, kSize}));
  std::copy_n(static_cast<const char*>(batch.raw()) + static_cast<size_t>(b) * t.bytes(), t.bytes(),
              static_cast<char*>(t.raw()));
  return t;
}

absl::StatusOr<std::vector<Tensor>> RunOp(const BatchCase& c, std::vector<Tensor> inputs,
                                          int threads) {
  static const Flags& flags = *new Flags();
  Services services;
  services.flags = &flags;
  services.threads = threads;
  if (c.op == "MatrixSolveLs") inputs.push_back(Tensor::Scalar<double>(0.5));
  Node node = MakeNode(c.op);
  node.attrs["T"] = AttrValue(DType::kFloat);
  if (c.op == "Lu") node.attrs["output_idx_type"] = AttrValue(DType::kInt32);
  if (c.op == "Eig") node.attrs["Tout"] = AttrValue(DType::kComplex64);
  return Evaluate(node, inputs, services);
}

class MatrixBatchTest : public testing::TestWithParam<BatchCase> {};

TEST_P(MatrixBatchTest, EachMatrixIsComputedAsAlone) {
  const BatchCase& c = GetParam();
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.inputs; ++i) inputs.push_back(Matrices(static_cast<unsigned>(i + 1)));
  for (const int threads : {1, 4}) {
    const auto all = RunOp(c, inputs, threads);
    ASSERT_TRUE(all.ok()) << all.status();
    for (int64_t b = 0; b < kCount; ++b) {
      std::vector<Tensor> own;
      for (const Tensor& t : inputs) own.push_back(MatrixOf(t, b));
      const auto alone = RunOp(c, own, 1);
      ASSERT_TRUE(alone.ok()) << alone.status();
      for (size_t o = 0; o < alone->size(); ++o) {
        const size_t bytes = (*alone)[o].bytes();
        const char* const part =
            static_cast<const char*>((*all)[o].raw()) + static_cast<size_t>(b) * bytes;
        EXPECT_EQ(std::memcmp((*alone)[o].raw(), part, bytes), 0)
            << "output " << o << " of matrix " << b << ", " << threads << " threads";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, MatrixBatchTest,
                         testing::ValuesIn(std::vector<BatchCase>{
                             {"Cholesky", 1},
                             {"CholeskyGrad", 2},
                             {"Eig", 1},
                             {"LogMatrixDeterminant", 1},
                             {"Lu", 1},
                             {"MatrixDeterminant", 1},
                             {"MatrixExponential", 1},
                             {"MatrixInverse", 1},
                             {"MatrixSolve", 2},
                             {"MatrixSolveLs", 2},
                             {"MatrixSquareRoot", 1},
                             {"MatrixTriangularSolve", 2},
                             {"Qr", 1},
                             {"SelfAdjointEigV2", 1},
                             {"Svd", 1},
                         }),
                         [](const auto& info) { return info.param.op; });

TEST(ForMatrices, TheFirstThatFailsGivesTheError) {
  for (const int threads : {1, 4}) {
    const auto fails = [](int64_t b) {
      return b % 10 == 7 ? absl::InvalidArgumentError(std::to_string(b)) : absl::OkStatus();
    };
    EXPECT_EQ(ForMatrices(threads, 100, 1e6, fails).message(), "7");
    EXPECT_TRUE(ForMatrices(threads, 7, 1e6, fails).ok());
    EXPECT_TRUE(ForMatrices(threads, 0, 1e6, fails).ok());
  }
}

TEST(ForMatrices, EachIsComputedOnce) {
  for (const int64_t count : {1, 2, 3, 50, 1000}) {
    for (const double ns : {1.0, 1e3, 1e9}) {
      std::vector<int> times(static_cast<size_t>(count));
      ASSERT_TRUE(ForMatrices(3, count, ns, [&](int64_t b) {
                    ++times[static_cast<size_t>(b)];
                    return absl::OkStatus();
                  }).ok());
      EXPECT_EQ(std::count(times.begin(), times.end(), 1), count);
    }
  }
}

}  // namespace
}  // namespace tenon
