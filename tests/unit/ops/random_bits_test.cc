// XlaRngBitGenerator, beyond its golden cases: signed numbers, which TensorFlow does not make, and
// the sequence of states.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "env/flags.h"
#include "kernels/random/philox.h"
#include "kernels/random/threefry.h"
#include "ops/evaluate.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<Tensor>> Bits(int32_t algorithm, const std::vector<uint64_t>& state,
                                         const std::vector<int32_t>& shape, DType dtype) {
  Node node;
  node.name = "bits";
  node.op = "XlaRngBitGenerator";
  node.attrs["dtype"] = dtype;
  TENON_RETURN_IF_ERROR(CompleteAttrs(*FindOp(node.op).info, node));
  const Flags flags;
  Services services;
  services.flags = &flags;
  return Evaluate(node, {Tensor::Scalar(algorithm), Tensor::Vector(state), Tensor::Vector(shape)},
                  services);
}

// The test vectors of the authors' library, Random123.
TEST(RandomBits, ThreefryOfItsAuthors) {
  EXPECT_THAT(Threefry(0, 0), ElementsAre(0x6b200159, 0x99ba4efe));
  EXPECT_THAT(Threefry(UINT64_MAX, UINT64_MAX), ElementsAre(0x1cb996fc, 0xbb002be7));
  EXPECT_THAT(Threefry(0x85a308d3243f6a88, 0x0370734413198a2e),
              ElementsAre(0xc4923a9c, 0x483df7a0));
}

TEST(RandomBits, SignedNumbersHaveTheSameBits) {
  for (const int32_t algorithm : {kPhiloxAlgorithm, kThreefryAlgorithm}) {
    for (const auto& [dtype, other] :
         {std::pair(DType::kUint8, DType::kInt8), std::pair(DType::kUint32, DType::kInt32),
          std::pair(DType::kUint64, DType::kInt64)}) {
      SCOPED_TRACE(absl::StrCat(algorithm, " ", Name(dtype)));
      const auto plain = Bits(algorithm, {5, 6}, {3, 4}, dtype);
      const auto with_sign = Bits(algorithm, {5, 6}, {3, 4}, other);
      ASSERT_TRUE(plain.ok() && with_sign.ok()) << with_sign.status();
      EXPECT_TRUE(Identical((*plain)[0], (*with_sign)[0]));
      ASSERT_EQ((*plain)[1].bytes(), (*with_sign)[1].bytes());
      EXPECT_TRUE(std::equal((*plain)[1].data<uint8_t>(),
                             (*plain)[1].data<uint8_t>() + (*plain)[1].bytes(),
                             (*with_sign)[1].data<uint8_t>()));
    }
  }
}

TEST(RandomBits, TheNextStateContinuesTheSequence) {
  for (const int32_t algorithm : {kPhiloxAlgorithm, kThreefryAlgorithm}) {
    const auto all = Bits(algorithm, {5, 6}, {16}, DType::kUint64);
    const auto first = Bits(algorithm, {5, 6}, {10}, DType::kUint64);
    ASSERT_TRUE(all.ok() && first.ok());
    const auto state = (*first)[0].flat<uint64_t>();
    const auto rest = Bits(algorithm, {state.begin(), state.end()}, {6}, DType::kUint64);
    ASSERT_TRUE(rest.ok()) << rest.status();
    const uint64_t* expected = (*all)[1].data<uint64_t>();
    EXPECT_TRUE(std::equal(expected, expected + 10, (*first)[1].data<uint64_t>()));
    EXPECT_TRUE(std::equal(expected + 10, expected + 16, (*rest)[1].data<uint64_t>()));
    EXPECT_TRUE(Identical((*all)[0], (*rest)[0]));
  }
}

TEST(RandomBits, ErrorsSayWhatIsWrong) {
  const auto error = [](const auto& result) { return std::string(result.status().message()); };
  EXPECT_THAT(error(Bits(7, {5, 6}, {3}, DType::kUint32)),
              AllOf(HasSubstr("bits"), HasSubstr("algorithm 7 is not Philox")));
  EXPECT_THAT(error(Bits(kThreefryAlgorithm, {5, 6, 7}, {3}, DType::kUint32)),
              HasSubstr("initial_state has 3"));
  EXPECT_THAT(error(Bits(kPhiloxAlgorithm, {5}, {3}, DType::kUint32)),
              HasSubstr("2 or 3 elements, but has 1"));
}

// A shape without elements takes no time, however large its other dimensions are.
TEST(RandomBits, NoElementsOfALongAxis) {
  const auto none = Bits(kThreefryAlgorithm, {5, 6}, {1 << 30, 1 << 30, 0}, DType::kUint32);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_THAT((*none)[0].flat<uint64_t>(), ElementsAre(5, 6));
}

}  // namespace
}  // namespace tenon
