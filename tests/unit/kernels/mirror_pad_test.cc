// MirrorPad against a plain loop, for any number of threads.
#include "gtest/gtest.h"
#include "kernels/layout/pad.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct MirrorCase {
  Shape in;
  std::vector<int32_t> pads;  // before and after, of each dimension
};

// The position along a dimension from which padded position i comes.
int64_t Mirrored(int64_t i, int64_t size, int64_t skip) {
  if (i < 0) return -i - 1 + skip;
  return i < size ? i : 2 * size - 1 - skip - i;
}

TEST(MirrorPad, AgreesWithAPlainLoop) {
  const MirrorCase cases[] = {{Shape({1, 90, 80, 3}), {0, 0, 8, 8, 8, 8, 0, 0}},
                              {Shape({2, 5, 4, 17}), {0, 0, 1, 2, 3, 0, 0, 0}},
                              {Shape({3, 4, 5}), {0, 0, 0, 0, 4, 1}},
                              {Shape({6, 7}), {5, 2, 0, 0}},
                              {Shape({4, 3}), {0, 0, 0, 0}},
                              {Shape({9}), {8, 8}},
                              {Shape({0, 3}), {0, 0, 1, 1}}};
  for (const MirrorCase& c : cases) {
    const Tensor x = Uniform(c.in, 1);
    const int rank = c.in.rank();
    Shape out = c.in;
    for (int d = 0; d < rank; ++d) {
      const size_t k = static_cast<size_t>(2 * d);
      out.set_dim(d, c.in.dim(d) + c.pads[k] + c.pads[k + 1]);
    }
    const Tensor paddings = Tensor::From<int32_t>({rank, 2}, c.pads);
    for (const int64_t skip : {0, 1}) {
      Node node = MakeNode("MirrorPad");
      node.attrs["mode"] = std::string(skip == 1 ? "REFLECT" : "SYMMETRIC");
      for (const int threads : {1, 2, 5}) {
        const auto got = RunFactory(MirrorPadKernel, node, {x, paddings}, {out}, threads);
        ASSERT_TRUE(got.ok()) << got.status();
        for (int64_t i = 0; i < out.num_elements(); ++i) {
          int64_t rest = i, from = 0, stride = 1;
          for (int d = rank - 1; d >= 0; --d) {
            const int64_t at = rest % out.dim(d) - c.pads[static_cast<size_t>(2 * d)];
            rest /= out.dim(d);
            from += Mirrored(at, c.in.dim(d), skip) * stride;
            stride *= c.in.dim(d);
          }
          ASSERT_EQ((*got)[0].data<float>()[i], x.data<float>()[from])
              << c.in.ToString() << " skip " << skip << " at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon
