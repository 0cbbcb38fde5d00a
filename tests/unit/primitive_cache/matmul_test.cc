// Which implementations serve products.
#include "primitive_cache/matmul.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "hwy/highway.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

TensorDesc Matrix(int64_t rows, int64_t columns) {
  return {ElementType::kF32, {rows, columns}, {columns, 1}};
}

// oneDNN's gemm is the slower form of a product whose weights may be packed ahead of time. Only
// without AVX2 is there no other.
TEST(Matmul, PackedWeightsDoNotUseGemm) {
  LimitVectorCode();
  if ((hwy::SupportedTargets() & (HWY_AVX2 | HWY_AVX3)) == 0) {
    GTEST_SKIP() << "without AVX2, products use gemm";
  }
  MatmulProblem p;
  p.src = Matrix(128, 512);
  p.weights = Matrix(512, 256);
  p.dst = Matrix(128, 256);
  p.pack_weights = true;
  const auto primitive = GetMatmul(p, nullptr);
  ASSERT_TRUE(primitive.ok()) << primitive.status();
  EXPECT_FALSE(absl::StartsWith((*primitive)->implementation(), "gemm"));
  EXPECT_FALSE(absl::StrContains((*primitive)->implementation(), ":gemm"));
  EXPECT_NE((*primitive)->weights_layout(), nullptr);
}

}  // namespace
}  // namespace tenon
