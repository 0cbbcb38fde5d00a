// Fourier transforms as vector code against the reference kernels, which compute in double.
#include "kernels/fft/fft.h"

#include <cmath>
#include <complex>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/fft/fft_lines.h"
#include "ops/evaluate.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;
using Complex = std::complex<float>;

struct FftCase {
  Shape batch;
  std::vector<int64_t> lengths;  // of the real signal, in the last dimensions
  friend void PrintTo(const FftCase& c, std::ostream* os) {
    *os << c.batch.ToString() << Shape(c.lengths).ToString();
  }
  int dims() const { return static_cast<int>(lengths.size()); }
  // Real: the signal; complex: it, or the kept half of its spectrum.
  Shape WithLengths(bool half) const {
    Shape shape = batch;
    for (int64_t n : lengths) shape.push_back(n);
    if (half) shape.set_dim(shape.rank() - 1, lengths.back() / 2 + 1);
    return shape;
  }
};

class FftTest : public TargetTest<FftCase> {
 protected:
  // `op`: FFT, IFFT, RFFT or IRFFT.
  static absl::StatusOr<Tensor> Transformed(const std::string& op, bool native, const FftCase& c,
                                            const Tensor& x, int threads) {
    const bool wide = x.dtype() == DType::kDouble || x.dtype() == DType::kComplex128;
    static const Flags& flags = *new Flags();
    Services services;
    services.flags = &flags;
    services.threads = threads;
    const std::string suffix = c.dims() == 1 ? "" : c.dims() == 2 ? "2D" : "3D";
    Node node = MakeNode((native ? "_MklNative" : "") + op + suffix);
    node.attrs["Tcomplex"] = AttrValue(wide ? DType::kComplex128 : DType::kComplex64);
    std::vector<Tensor> inputs = {x};
    if (op[0] == 'R' || op[1] == 'R') {
      node.attrs["Treal"] = AttrValue(wide ? DType::kDouble : DType::kFloat);
      std::vector<int32_t> lengths(c.lengths.begin(), c.lengths.end());
      inputs.push_back(Tensor::Vector<int32_t>(lengths));
    }
    auto outputs = Evaluate(node, inputs, services);
    if (!outputs.ok()) return outputs.status();
    return (*outputs)[0];
  }

  static Tensor Numbers(const Shape& shape, unsigned seed) {
    Shape pairs = shape;
    pairs.push_back(2);
    const Tensor parts = Uniform(pairs, seed, -1, 1);
    Tensor t = *Tensor::Allocate(DType::kComplex64, shape);
    std::copy_n(parts.data<float>(), parts.num_elements(), reinterpret_cast<float*>(t.raw()));
    return t;
  }
};

// The same numbers in double precision.
Tensor Widened(const Tensor& t) {
  const bool complex = t.dtype() == DType::kComplex64;
  Tensor out = *Tensor::Allocate(complex ? DType::kComplex128 : DType::kDouble, t.shape());
  std::copy_n(static_cast<const float*>(t.raw()), t.num_elements() * (complex ? 2 : 1),
              static_cast<double*>(out.raw()));
  return out;
}

// The error of a transform grows with the logarithm of its length, relative to the root mean square
// of the result.
template <typename T>
void ExpectNear(const Tensor& want, const Tensor& got, const std::string& what) {
  ASSERT_EQ(want.shape(), got.shape()) << what;
  ASSERT_EQ(want.dtype(), got.dtype()) << what;
  const bool complex = want.dtype() == DTypeTraits<std::complex<T>>::value;
  const int64_t n = want.num_elements() * (complex ? 2 : 1);
  const auto* a = static_cast<const T*>(want.raw());
  const auto* b = static_cast<const T*>(got.raw());
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(a[i]) * a[i];
  const double scale = std::sqrt(squares / static_cast<double>(std::max<int64_t>(n, 1)));
  const double bound = (2.5 * std::numeric_limits<T>::epsilon()) *
                           (4 + std::log2(static_cast<double>(n + 1))) * scale +
                       1e-12 * std::numeric_limits<T>::epsilon();
  for (int64_t i = 0; i < n; ++i) ASSERT_NEAR(a[i], b[i], bound) << what << " element " << i;
}

TEST_P(FftTest, AgreesWithReference) {
  const FftCase& c = GetCase();
  const Tensor complex = Numbers(c.WithLengths(false), 1), half = Numbers(c.WithLengths(true), 2);
  const Tensor real = Uniform(c.WithLengths(false), 3, -1, 1);
  for (int threads : {1, 3}) {
    for (const char* op : {"FFT", "IFFT", "RFFT", "IRFFT"}) {
      const Tensor& x = op[0] == 'R' ? real : op[1] == 'R' ? half : complex;
      for (const bool wide : {false, true}) {
        const Tensor in = wide ? Widened(x) : x;
        const auto want = Transformed(op, false, c, in, 1);
        const auto got = Transformed(op, true, c, in, threads);
        ASSERT_TRUE(want.ok()) << want.status();
        ASSERT_TRUE(got.ok()) << got.status();
        if (wide) {
          ExpectNear<double>(*want, *got, op);
        } else {
          ExpectNear<float>(*want, *got, op);
        }
      }
    }
  }
}

std::vector<FftCase> Cases() {
  std::vector<FftCase> cases;
  for (int64_t n = 1; n <= 32; ++n) cases.push_back({{n % 5 + 1}, {n}});
  for (int64_t n : {49, 100, 121, 143, 169, 240, 256, 400, 1000, 1024, 4096}) {
    cases.push_back({{n > 1000 ? 2 : 17}, {n}});
  }
  cases.push_back({{}, {12}});
  cases.push_back({{2, 3}, {6}});
  cases.push_back({{0}, {8}});
  cases.push_back({{}, {1, 1}});
  cases.push_back({{2}, {3, 8}});
  cases.push_back({{3}, {16, 15}});
  cases.push_back({{}, {40, 33}});
  cases.push_back({{2}, {4, 5, 6}});
  // Large prime factors, which take another algorithm.
  for (int64_t n : {34, 37, 61, 97, 254, 997, 1994}) cases.push_back({{n % 5 + 7}, {n}});
  cases.push_back({{1}, {7, 17, 4}});
  cases.push_back({{}, {34, 19}});
  // Few long lines.
  for (int64_t n : {360, 720, 1010, 2310, 9000, 65536}) cases.push_back({{n % 3 + 1}, {n}});
  for (int64_t n : {514, 1009, 2018, 2993, 20011, 40009}) cases.push_back({{n % 3 + 1}, {n}});
  cases.push_back({{}, {3072}});
  cases.push_back({{17}, {8640}});
  // Neighboring lines of a whole vector.
  cases.push_back({{2}, {6, 48}});
  cases.push_back({{}, {5, 17, 32}});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Lengths, FftTest,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::ValuesIn(Cases())));

TEST(Fft, StagesCoverSmallPrimes) {
  EXPECT_TRUE(HasFftStages(1));
  EXPECT_TRUE(HasFftStages(4 * 2 * 3 * 5 * 7 * 11 * 13));
  EXPECT_FALSE(HasFftStages(17));
  EXPECT_FALSE(HasFftStages(2 * 19));
  EXPECT_FALSE(HasFftStages(0));
}

// The spectrum of a longer signal is that of its first elements.
TEST(Fft, CropsTheSignal) {
  const Tensor x = Uniform({3, 20}, 1);
  Tensor first = *Tensor::Allocate(DType::kFloat, Shape({3, 12}));
  for (int64_t r = 0; r < 3; ++r) {
    std::copy_n(x.data<float>() + r * 20, 12, first.data<float>() + r * 12);
  }
  const Node node = [] {
    Node n = MakeNode("RFFT");
    n.attrs["Treal"] = AttrValue(DType::kFloat);
    n.attrs["Tcomplex"] = AttrValue(DType::kComplex64);
    return n;
  }();
  const Tensor length = Tensor::Vector<int32_t>({12});
  const auto run = [&](const Tensor& t) {
    return RunFactory([](PrepareContext& p) { return RealFftVector(p, 1); }, node, {t, length},
                      {Shape({3, 7})}, 1, DType::kComplex64);
  };
  const auto cropped = run(x), whole = run(first);
  ASSERT_TRUE(cropped.ok()) << cropped.status();
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_TRUE(Identical((*cropped)[0], (*whole)[0]));
}

}  // namespace
}  // namespace tenon
