// Resizing by vector code has the bits of the reference kernels.
#include <cmath>
#include <cstring>
#include <random>

#include "gtest/gtest.h"
#include "kernels/image/resize.h"
#include "kernels/interface/types.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct ResizeCase {
  Shape in;
  int32_t height, width;
  friend void PrintTo(const ResizeCase& c, std::ostream* os) {
    *os << c.in.ToString() << " to " << c.height << "x" << c.width;
  }
};

Tensor Pixels(DType dtype, const Shape& shape) {
  Tensor t = *Tensor::Allocate(dtype, shape);
  std::mt19937 random(7);
  const auto fill = [&]<typename T>() -> absl::Status {
    const int low = std::is_unsigned_v<T> ? 0 : -100;
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      const float v = static_cast<float>(low + static_cast<int>(random() % 200)) / 1.5f;
      t.data<T>()[i] = static_cast<T>(v);
    }
    return absl::OkStatus();
  };
  EXPECT_TRUE(
      DispatchType(Joined<Floats, TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>>{},
                   dtype, fill)
          .ok());
  return t;
}

void ExpectSameBits(const Node& node, const Tensor& images, const ResizeCase& c) {
  const std::vector<Tensor> inputs = {images, Tensor::Vector<int32_t>({c.height, c.width})};
  const Shape out({c.in.dim(0), c.height, c.width, c.in.dim(3)});
  const auto run = [&](FactoryRef factory, int threads) {
    auto result = RunFactory(factory, node, inputs, {out}, threads, DType::kFloat);
    EXPECT_TRUE(result.ok()) << result.status();
    return (*result)[0];
  };
  const bool cubic = node.op == "ResizeBicubic";
  const Tensor expected = run(cubic ? ResizeBicubic : ResizeArea, 1);
  for (const int threads : {1, 2, 5}) {
    const Tensor got = run(cubic ? VectorResizeBicubic : VectorResizeArea, threads);
    for (int64_t i = 0; i < got.num_elements(); ++i) {
      const float a = got.data<float>()[i], b = expected.data<float>()[i];
      if (std::isnan(a) && std::isnan(b)) continue;  // of any bits
      ASSERT_EQ(std::memcmp(&a, &b, sizeof a), 0)
          << node.op << " " << Name(images.dtype()) << " " << threads << " threads, at " << i
          << ": " << a << ", " << b;
    }
  }
}

class ResizeVectorTest : public TargetTest<ResizeCase> {};

TEST_P(ResizeVectorTest, EachPlaceOfThePixels) {
  const ResizeCase& c = GetCase();
  Tensor images = Uniform(c.in, 3);
  for (const bool special : {false, true}) {
    if (special && images.num_elements() > 1) {
      images.data<float>()[0] = kInf;
      images.data<float>()[images.num_elements() - 1] = kNaN;
    }
    for (const char* const attribute : {"", "align_corners", "half_pixel_centers"}) {
      for (const char* const op : {"ResizeBicubic", "ResizeArea"}) {
        Node node = MakeNode(op);
        if (*attribute != 0) node.attrs[attribute] = true;
        ExpectSameBits(node, images, c);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ResizeVectorTest,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::Values(ResizeCase{Shape({1, 1, 1, 1}), 3, 4},
                                                          ResizeCase{Shape({2, 5, 7, 1}), 12, 9},
                                                          ResizeCase{Shape({1, 64, 64, 3}), 128,
                                                                     128},
                                                          ResizeCase{Shape({3, 40, 30, 3}), 7, 5},
                                                          ResizeCase{Shape({1, 33, 21, 2}), 1, 64},
                                                          ResizeCase{Shape({2, 9, 8, 17}), 71, 53},
                                                          ResizeCase{Shape({1, 6, 5, 40}), 6, 5},
                                                          ResizeCase{Shape({0, 6, 5, 3}), 6, 5})));

TEST(ResizeVector, EachDtype) {
  const ResizeCase c{Shape({2, 12, 9, 3}), 7, 30};
  for (const DType dtype :
       {DType::kInt8, DType::kUint8, DType::kInt16, DType::kUint16, DType::kInt32, DType::kInt64,
        DType::kHalf, DType::kBfloat16, DType::kDouble}) {
    Node node = MakeNode("ResizeBicubic");
    node.attrs["half_pixel_centers"] = true;
    ExpectSameBits(node, Pixels(dtype, c.in), c);
    ExpectSameBits(MakeNode("ResizeArea"), Pixels(dtype, c.in), c);
  }
}

}  // namespace
}  // namespace tenon
