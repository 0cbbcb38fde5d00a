// Products of rows with a small matrix on every instruction set, compared with sums in double.
#include <cmath>

#include "kernels/matmul/row_product_simd.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct Sizes {
  size_t rows, columns, terms, part = 256;
};

class RowProductTest : public TargetTest<Sizes> {
 protected:
  static constexpr size_t kGap = 3;  // floats between rows that must not change

  std::vector<float> Random(size_t n) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> v(n);
    for (float& x : v) x = uniform(random_);
    return v;
  }
  // Columns that fill the last panel up are NaN.
  static std::vector<float> Packed(const std::vector<float>& plain, size_t terms, size_t columns,
                                   size_t width) {
    std::vector<float> packed((columns + width - 1) / width * width * terms, kNaN);
    for (size_t k = 0; k < terms; ++k) {
      for (size_t j = 0; j < columns; ++j) {
        packed[(j / width * terms + k) * width + j % width] = plain[k * columns + j];
      }
    }
    return packed;
  }

  std::mt19937 random_{7};
};

TEST_P(RowProductTest, SumsProducts) {
  const auto [rows, columns, terms, part] = GetCase();
  const std::vector<float> a = Random(rows * terms), w = Random(terms * columns);
  const size_t width = RowPanelsOf(columns).width, row = columns + kGap;
  const std::vector<float> packed = Packed(w, terms, columns, width);
  const std::vector<float> bias = Random(columns), addend = Random(rows * row);
  for (const bool chain : {false, true}) {
    std::vector<float> out(rows * row, 5.0f);
    RowProduct p{.a = a.data(), .a_row = terms, .rows = rows, .columns = columns, .terms = terms};
    p.part = part;
    p.w = packed.data();
    p.width = width;
    p.panel = width * terms;
    p.out = out.data();
    p.out_row = row;
    if (chain) {
      p.bias = bias.data();
      p.addend = addend.data();
      p.clamp_low = p.clamp_high = true;
    }
    FindRowProduct()(p);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < row; ++j) {
        const double got = static_cast<double>(out[i * row + j]);
        if (j >= columns) {
          ASSERT_EQ(got, 5.0) << "written past row " << i;
          continue;
        }
        double sum = 0, size = 0;
        const auto add = [&](double term) {
          sum += term;
          size += std::abs(term);
        };
        for (size_t k = 0; k < terms; ++k) {
          add(static_cast<double>(a[i * terms + k]) * static_cast<double>(w[k * columns + j]));
        }
        if (chain) {
          add(static_cast<double>(bias[j]));
          add(static_cast<double>(addend[i * row + j]));
          sum = std::clamp(sum, 0.0, 6.0);
        }
        // Each rounding is at most half a unit of the sum of magnitudes.
        ASSERT_NEAR(got, sum, size * static_cast<double>(terms + 2) * 6e-8) << i << ", " << j;
      }
    }
  }
}

TEST_P(RowProductTest, KeepsNan) {
  const auto [rows, columns, terms, part] = GetCase();
  std::vector<float> a = Random(rows * terms);
  a[rows * terms - 1] = kNaN;  // only the last row has one
  const size_t width = RowPanelsOf(columns).width;
  const std::vector<float> packed = Packed(Random(terms * columns), terms, columns, width);
  std::vector<float> out(rows * columns);
  RowProduct p{.a = a.data(), .a_row = terms, .rows = rows, .columns = columns, .terms = terms};
  p.part = part;
  p.w = packed.data();
  p.width = width;
  p.panel = width * terms;
  p.clamp_low = p.clamp_high = true;
  p.out = out.data();
  p.out_row = columns;
  FindRowProduct()(p);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(std::isnan(out[i]), i / columns == rows - 1) << i;
  }
}

// Rows that overlap, in segments, as a convolution's windows do.
TEST_P(RowProductTest, SumsSegments) {
  const auto [rows, columns, terms, part] = GetCase();
  const size_t step = (terms + 1) / 2;  // from row to row
  for (const size_t segments : {0, 1, 3}) {
    const size_t line = (rows - 1) * step + terms;
    const std::vector<float> a = Random(std::max<size_t>(segments, 1) * line);
    const std::vector<float> w = Random(segments * terms * columns);
    const size_t width = RowPanelsOf(columns).width;
    const std::vector<float> packed = Packed(w, segments * terms, columns, width);
    std::vector<float> out(rows * columns, kNaN);
    RowProduct p{.a = a.data(), .a_row = step, .rows = rows, .columns = columns, .terms = terms};
    p.part = part;
    p.segments = segments;
    p.segment_step = line;
    p.w = packed.data();
    p.width = width;
    p.panel = width * segments * terms;
    p.out = out.data();
    p.out_row = columns;
    FindRowProduct()(p);
    for (size_t i = 0; i < out.size(); ++i) {
      double sum = 0, size = 0;
      for (size_t k = 0; k < segments * terms; ++k) {
        const float x = a[k / terms * line + i / columns * step + k % terms];
        const double term =
            static_cast<double>(x) * static_cast<double>(w[k * columns + i % columns]);
        sum += term;
        size += std::abs(term);
      }
      const double roundings = static_cast<double>(segments * terms);
      ASSERT_NEAR(static_cast<double>(out[i]), sum, size * roundings * 6e-8) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, RowProductTest,
    testing::Combine(testing::ValuesIn(Targets()),
                     testing::Values(Sizes{1, 1, 1}, Sizes{13, 3, 2}, Sizes{12, 4, 5},
                                     Sizes{25, 8, 9}, Sizes{11, 9, 3}, Sizes{7, 15, 4},
                                     Sizes{24, 16, 3}, Sizes{23, 17, 8}, Sizes{10, 24, 144},
                                     Sizes{9, 31, 6}, Sizes{19, 32, 16}, Sizes{8, 40, 7},
                                     Sizes{17, 48, 3}, Sizes{5, 50, 50}, Sizes{14, 56, 2},
                                     Sizes{6, 64, 64}, Sizes{13, 65, 3}, Sizes{4, 80, 31},
                                     Sizes{3, 100, 10}, Sizes{31, 150, 12}, Sizes{2, 128, 257, 144},
                                     Sizes{7, 20, 600, 208}, Sizes{15, 33, 40, 16},
                                     Sizes{26, 7, 33, 16}, Sizes{6, 64, 17, 16})));

}  // namespace
}  // namespace tenon
