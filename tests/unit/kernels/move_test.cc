// Concat and Transpose against plain loops over indices.
#include <complex>
#include <cstring>
#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/layout/concat.h"
#include "kernels/layout/transpose.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

// Bytes that differ from element to element.
Tensor Numbered(DType dtype, const Shape& shape, unsigned seed) {
  std::mt19937 rng(seed);
  Tensor t = *Tensor::Allocate(dtype, shape);
  for (size_t i = 0; i < t.bytes(); ++i) t.data<uint8_t>()[i] = static_cast<uint8_t>(rng());
  if (dtype == DType::kBool) {
    for (size_t i = 0; i < t.bytes(); ++i) t.data<uint8_t>()[i] &= 1;
  }
  return t;
}

const DType kDTypes[] = {DType::kUint8, DType::kBfloat16, DType::kFloat, DType::kDouble,
                         DType::kComplex128};

struct TransposeCase {
  Shape shape;
  std::vector<int32_t> perm;
  friend void PrintTo(const TransposeCase& c, std::ostream* os) {
    *os << c.shape.ToString() << " by";
    for (int32_t a : c.perm) *os << " " << a;
  }
};

class TransposeTest : public testing::TestWithParam<TransposeCase> {};

TEST_P(TransposeTest, MovesEveryElement) {
  const auto& [shape, perm] = GetParam();
  Shape out;
  for (int32_t a : perm) out.push_back(shape.dim(a));
  for (const DType dtype : kDTypes) {
    const Tensor x = Numbered(dtype, shape, 1);
    for (const int threads : {1, 2}) {
      const auto y = RunFactory(VectorTranspose, MakeNode("Transpose"),
                                {x, Tensor::Vector<int32_t>(perm)}, {out}, threads);
      ASSERT_TRUE(y.ok()) << y.status();
      const size_t size = SizeOf(dtype);
      for (int64_t i = 0; i < out.num_elements(); ++i) {
        std::vector<int64_t> index(perm.size());
        int64_t rest = i;
        for (size_t d = perm.size(); d-- > 0;) {
          index[static_cast<size_t>(perm[d])] = rest % out.dim(static_cast<int>(d));
          rest /= out.dim(static_cast<int>(d));
        }
        int64_t from = 0;
        for (size_t d = 0; d < perm.size(); ++d) {
          from = from * shape.dim(static_cast<int>(d)) + index[d];
        }
        ASSERT_EQ(0, std::memcmp((*y)[0].data<char>() + static_cast<size_t>(i) * size,
                                 x.data<char>() + static_cast<size_t>(from) * size, size))
            << Name(dtype) << " element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TransposeTest,
    testing::Values(
        TransposeCase{{}, {}}, TransposeCase{{5}, {0}}, TransposeCase{{1, 1}, {1, 0}},
        TransposeCase{{0, 3}, {1, 0}}, TransposeCase{{7, 9}, {1, 0}},
        TransposeCase{{16, 16}, {1, 0}}, TransposeCase{{33, 65}, {1, 0}},
        TransposeCase{{1, 128, 12, 64}, {0, 2, 1, 3}}, TransposeCase{{1, 40, 12, 24}, {0, 2, 3, 1}},
        TransposeCase{{2, 14, 14, 24}, {0, 3, 1, 2}}, TransposeCase{{2, 24, 7, 7}, {0, 2, 3, 1}},
        TransposeCase{{2, 3, 4, 5}, {3, 2, 1, 0}}, TransposeCase{{2, 3, 4, 5}, {1, 3, 0, 2}},
        TransposeCase{{2, 1, 17, 1, 19}, {4, 1, 0, 3, 2}},
        TransposeCase{{3, 2, 2, 3, 2, 5}, {5, 0, 3, 1, 4, 2}}, TransposeCase{{500, 300}, {1, 0}},
        TransposeCase{{2, 300, 20, 16}, {2, 1, 0, 3}}, TransposeCase{{2, 5, 77, 3}, {0, 3, 1, 2}},
        TransposeCase{{2, 3, 130, 7}, {0, 2, 3, 1}}, TransposeCase{{1000, 2}, {1, 0}},
        TransposeCase{{4, 300}, {1, 0}}, TransposeCase{{9001, 4}, {1, 0}},
        TransposeCase{{3, 9001}, {1, 0}}, TransposeCase{{3, 4, 130, 2}, {0, 1, 3, 2}},
        TransposeCase{{6, 3, 5, 65}, {1, 0, 3, 2}}));

struct ConcatCase {
  std::vector<Shape> shapes;
  int axis;
  friend void PrintTo(const ConcatCase& c, std::ostream* os) {
    for (const Shape& s : c.shapes) *os << s.ToString();
    *os << " along " << c.axis;
  }
};

absl::StatusOr<std::vector<Tensor>> RunConcat(int axis_input, const std::vector<Tensor>& inputs,
                                              const Shape& out, int threads, DType dtype) {
  return RunFactory([&](PrepareContext& p) { return VectorConcat(p, axis_input); },
                    MakeNode("Concat"), inputs, {out}, threads, dtype);
}

class ConcatTest : public testing::TestWithParam<ConcatCase> {};

TEST_P(ConcatTest, PutsPartsSideBySide) {
  const auto& [shapes, axis] = GetParam();
  Shape out = shapes[0];
  const int normal = axis < 0 ? axis + out.rank() : axis;
  int64_t outer = 1, inner = 1, sum = 0;
  for (const Shape& s : shapes) sum += s.dim(normal);
  for (int d = 0; d < out.rank(); ++d) {
    if (d < normal) outer *= out.dim(d);
    if (d > normal) inner *= out.dim(d);
  }
  out.set_dim(normal, sum);
  for (const DType dtype : kDTypes) {
    std::vector<Tensor> parts;
    for (const Shape& s : shapes) {
      parts.push_back(Numbered(dtype, s, static_cast<unsigned>(parts.size())));
    }
    std::vector<Tensor> v2 = parts, v1 = parts;
    v2.push_back(Tensor::Scalar<int32_t>(axis));
    v1.insert(v1.begin(), Tensor::Scalar<int32_t>(axis));
    for (const int threads : {1, 2}) {
      const auto y = RunConcat(static_cast<int>(parts.size()), v2, out, threads, dtype);
      ASSERT_TRUE(y.ok()) << y.status();
      const auto old = RunConcat(0, v1, out, threads, dtype);
      ASSERT_TRUE(old.ok()) << old.status();
      const size_t size = SizeOf(dtype);
      int64_t at = 0;
      for (int64_t o = 0; o < outer; ++o) {
        for (size_t k = 0; k < parts.size(); ++k) {
          const int64_t n = shapes[k].dim(normal) * inner;
          ASSERT_EQ(0, std::memcmp((*y)[0].data<char>() + static_cast<size_t>(at) * size,
                                   parts[k].data<char>() + static_cast<size_t>(o * n) * size,
                                   static_cast<size_t>(n) * size));
          at += n;
        }
      }
      ASSERT_TRUE(Identical((*y)[0], (*old)[0]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConcatTest,
    testing::Values(ConcatCase{{{3}}, 0}, ConcatCase{{{3}, {0}, {2}}, 0},
                    ConcatCase{{{2, 3}, {2, 4}}, 1}, ConcatCase{{{2, 3}, {5, 3}}, 0},
                    ConcatCase{{{2, 3, 2}, {2, 1, 2}, {2, 7, 2}}, -2},
                    ConcatCase{{{0, 3}, {0, 4}}, 1},
                    ConcatCase{{{1, 28, 28, 128}, {1, 28, 28, 32}}, 3},
                    ConcatCase{{{1, 8, 8, 33}, {1, 8, 8, 1}, {1, 8, 8, 7}}, -1},
                    ConcatCase{{{100000}, {70001}}, 0}));

}  // namespace
}  // namespace tenon
