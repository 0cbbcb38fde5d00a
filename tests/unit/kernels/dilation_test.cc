// Dilation by vector code has the bits of the reference kernel.
#include "kernels/pooling/dilation.h"

#include <cstring>

#include "gtest/gtest.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct DilationCase {
  Shape in, filter;  // filter: [rows, columns, channels]
  int64_t stride = 1, rate = 1;
  friend void PrintTo(const DilationCase& c, std::ostream* os) {
    *os << c.in.ToString() << " by " << c.filter.ToString() << " stride " << c.stride << " rate "
        << c.rate;
  }
};

class DilationTest : public TargetTest<DilationCase> {};

TEST_P(DilationTest, AgreesWithTheReference) {
  const DilationCase& c = GetCase();
  for (const bool special : {false, true}) {
    Tensor in = Uniform(c.in, 1);
    if (special) {
      for (int64_t i = 0; i < in.num_elements(); ++i) {
        if (i % 3 == 0) in.data<float>()[i] = i % 2 == 0 ? kNaN : -kInf;
      }
    }
    const std::vector<Tensor> inputs = {in, Uniform(c.filter, 2)};
    for (const char* const padding : {"SAME", "VALID"}) {
      Node node = MakeNode("Dilation2D");
      node.attrs["strides"] = std::vector<int64_t>{1, c.stride, c.stride, 1};
      node.attrs["rates"] = std::vector<int64_t>{1, c.rate, c.rate, 1};
      node.attrs["padding"] = std::string(padding);
      const auto g = DilationGeometryOf(AttrReader(node), c.in, c.filter);
      if (!g.ok()) continue;  // a filter that is too large without padding
      const Shape out({g->batch, g->axes[0].out, g->axes[1].out, g->channels});
      const auto run = [&](FactoryRef factory, int threads) {
        auto result = RunFactory(factory, node, inputs, {out}, threads);
        EXPECT_TRUE(result.ok()) << result.status();
        return (*result)[0];
      };
      const Tensor expected = run(Dilation<DilationResult::kOutput>, 1);
      for (const int threads : {1, 2}) {
        const Tensor got = run(VectorDilation, threads);
        EXPECT_EQ(std::memcmp(got.raw(), expected.raw(), got.bytes()), 0)
            << padding << ", special: " << special << ", threads: " << threads;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DilationTest,
    testing::Combine(testing::ValuesIn(Targets()),
                     testing::Values(DilationCase{Shape({1, 28, 28, 64}), Shape({3, 3, 64})},
                                     DilationCase{Shape({2, 9, 7, 1}), Shape({2, 3, 1})},
                                     DilationCase{Shape({2, 9, 7, 3}), Shape({3, 2, 3}), 2},
                                     DilationCase{Shape({3, 12, 11, 17}), Shape({3, 3, 17}), 1, 2},
                                     DilationCase{Shape({1, 20, 31, 5}), Shape({5, 4, 5}), 3, 2},
                                     DilationCase{Shape({1, 4, 3, 8}), Shape({7, 7, 8})},
                                     DilationCase{Shape({1, 3, 3, 4}), Shape({2, 2, 4}), 1, 50},
                                     DilationCase{Shape({1, 9, 9, 4}), Shape({1, 1, 4}), 4},
                                     DilationCase{Shape({0, 4, 4, 3}), Shape({2, 2, 3})},
                                     DilationCase{Shape({1, 4, 4, 0}), Shape({2, 2, 0})})));

TEST(Dilation, OtherDtypesAreLeftToTheReference) {
  Node node = MakeNode("Dilation2D");
  node.attrs["strides"] = node.attrs["rates"] = std::vector<int64_t>{1, 1, 1, 1};
  node.attrs["padding"] = std::string("SAME");
  const Tensor in = *Tensor::Allocate(DType::kInt32, Shape({1, 4, 4, 3}));
  const Tensor filter = *Tensor::Allocate(DType::kInt32, Shape({2, 2, 3}));
  EXPECT_FALSE(RunFactory(VectorDilation, node, {in, filter}, {in.shape()}).ok());
}

}  // namespace
}  // namespace tenon
