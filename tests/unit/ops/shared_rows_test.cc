// Ops whose rows are shared among threads, at sizes at which they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/ops/run_op.h"

namespace tenon {
namespace {

std::vector<int32_t> Numbers(int64_t n, int32_t most, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<int32_t> numbers(static_cast<size_t>(n));
  for (int32_t& x : numbers) x = static_cast<int32_t>(rng() % static_cast<unsigned>(most + 1));
  return numbers;
}

struct GatherCase {
  int64_t batch, outer, limit, inner, count;
};

// params[batch, outer, limit, inner] and indices[batch, count] on axis 2.
TEST(SharedRows, GatherTakesEachSlice) {
  for (const GatherCase& c : {GatherCase{1, 1, 50, 1, 70000},
                              {1, 30000, 7, 1, 3},
                              {3, 5, 40, 33, 301},
                              {2, 4000, 3, 2, 5},
                              {1, 1, 9, 100, 0}}) {
    const std::vector<int32_t> params = Numbers(c.batch * c.outer * c.limit * c.inner, 1 << 30, 1);
    const std::vector<int32_t> indices =
        Numbers(c.batch * c.count, static_cast<int32_t>(c.limit) - 1, 2);
    std::vector<int32_t> want;
    for (int64_t b = 0; b < c.batch; ++b) {
      for (int64_t o = 0; o < c.outer; ++o) {
        for (int64_t i = 0; i < c.count; ++i) {
          const int64_t id = indices[static_cast<size_t>(b * c.count + i)];
          for (int64_t e = 0; e < c.inner; ++e) {
            want.push_back(
                params[static_cast<size_t>(((b * c.outer + o) * c.limit + id) * c.inner + e)]);
          }
        }
      }
    }
    Tensor p = *Tensor::Allocate(DType::kInt32, Shape({c.batch, c.outer, c.limit, c.inner}));
    std::copy(params.begin(), params.end(), p.data<int32_t>());
    Tensor i = *Tensor::Allocate(DType::kInt32, Shape({c.batch, c.count}));
    std::copy(indices.begin(), indices.end(), i.data<int32_t>());
    for (const int threads : {1, 2, 5}) {
      const auto got = RunOp("GatherV2",
                             {{"Tparams", DType::kInt32},
                              {"Tindices", DType::kInt32},
                              {"Taxis", DType::kInt32},
                              {"batch_dims", int64_t{1}}},
                             {p, i, Tensor::Scalar<int32_t>(2)}, threads);
      ASSERT_TRUE(got.ok()) << got.status();
      const Tensor& y = (*got)[0];
      EXPECT_EQ(y.shape(), Shape({c.batch, c.outer, c.count, c.inner}));
      EXPECT_TRUE(std::equal(want.begin(), want.end(), y.data<int32_t>())) << threads;
    }
  }
}

// parts[rows, width_i, inner], side by side on axis 1, and back.
TEST(SharedRows, PartsAreJoinedAndSplit) {
  struct Case {
    int64_t rows, inner;
    std::vector<int64_t> widths;
  };
  for (const Case& c : {Case{1, 1, {70000, 1, 30001}},
                        {50001, 1, {1, 1, 1}},
                        {9001, 5, {1, 0, 3}},
                        {3, 20000, {1, 2}},
                        {0, 4, {1, 2}},
                        {7, 1, {0, 0}}}) {
    std::vector<Tensor> parts;
    int64_t width = 0;
    for (const int64_t w : c.widths) {
      const std::vector<int32_t> values =
          Numbers(c.rows * w * c.inner, 1 << 30, static_cast<unsigned>(width));
      parts.push_back(*Tensor::Allocate(DType::kInt32, Shape({c.rows, w, c.inner})));
      std::copy(values.begin(), values.end(), parts.back().data<int32_t>());
      width += w;
    }
    std::vector<int32_t> want;
    for (int64_t r = 0; r < c.rows; ++r) {
      for (size_t i = 0; i < parts.size(); ++i) {
        const int64_t row = c.widths[i] * c.inner;
        const int32_t* from = parts[i].data<int32_t>() + r * row;
        want.insert(want.end(), from, from + row);
      }
    }
    std::vector<Tensor> joined_inputs = parts;
    joined_inputs.push_back(Tensor::Scalar<int32_t>(1));
    const auto n = static_cast<int64_t>(parts.size());
    for (const int threads : {1, 2, 5}) {
      SCOPED_TRACE(threads);
      const AttrMap attrs{{"T", DType::kInt32}, {"Tidx", DType::kInt32}, {"N", n}};
      const auto joined = RunOp("ConcatV2", attrs, joined_inputs, threads);
      ASSERT_TRUE(joined.ok()) << joined.status();
      const Tensor& whole = (*joined)[0];
      ASSERT_EQ(whole.shape(), Shape({c.rows, width, c.inner}));
      EXPECT_TRUE(std::equal(want.begin(), want.end(), whole.data<int32_t>()));
      const auto split =
          RunOp("SplitV", {{"T", DType::kInt32}, {"Tlen", DType::kInt64}, {"num_split", n}},
                {whole, Tensor::Vector<int64_t>(c.widths), Tensor::Scalar<int32_t>(1)}, threads);
      ASSERT_TRUE(split.ok()) << split.status();
      for (size_t i = 0; i < parts.size(); ++i) {
        ASSERT_EQ((*split)[i].shape(), parts[i].shape());
        EXPECT_TRUE(std::equal(parts[i].data<int32_t>(),
                               parts[i].data<int32_t>() + parts[i].num_elements(),
                               (*split)[i].data<int32_t>()));
      }
    }
  }
}

// Every combination of operands that have an axis of the output, or one element for it.
TEST(SharedRows, SelectBroadcasts) {
  const Shape out({40, 3, 150});
  std::mt19937 rng(5);
  for (int kinds = 0; kinds < 512; ++kinds) {
    SCOPED_TRACE(kinds);
    std::vector<Tensor> inputs;
    std::vector<Shape> shapes;
    for (int o = 0; o < 3; ++o) {
      Shape shape;
      for (int d = 0; d < 3; ++d) shape.push_back((kinds >> (3 * o + d) & 1) != 0 ? 1 : out.dim(d));
      shapes.push_back(shape);
      inputs.push_back(*Tensor::Allocate(o == 0 ? DType::kBool : DType::kInt32, shape));
      for (int64_t i = 0; i < shape.num_elements(); ++i) {
        if (o == 0) {
          inputs[0].data<bool>()[i] = rng() % 2 != 0;
        } else {
          inputs.back().data<int32_t>()[i] = static_cast<int32_t>(rng());
        }
      }
    }
    const auto position = [&](size_t o, int64_t i, int64_t j, int64_t k) {
      const auto at = [&](int d, int64_t index) { return shapes[o].dim(d) == 1 ? 0 : index; };
      return (at(0, i) * shapes[o].dim(1) + at(1, j)) * shapes[o].dim(2) + at(2, k);
    };
    for (const int threads : {1, 3}) {
      const auto got = RunOp("SelectV2", {{"T", DType::kInt32}}, inputs, threads);
      ASSERT_TRUE(got.ok()) << got.status();
      const Shape& shape = (*got)[0].shape();
      const int32_t* y = (*got)[0].data<int32_t>();
      for (int64_t i = 0; i < shape.dim(0); ++i) {
        for (int64_t j = 0; j < shape.dim(1); ++j) {
          for (int64_t k = 0; k < shape.dim(2); ++k, ++y) {
            const size_t from = inputs[0].data<bool>()[position(0, i, j, k)] ? 1 : 2;
            ASSERT_EQ(*y, inputs[from].data<int32_t>()[position(from, i, j, k)])
                << i << ", " << j << ", " << k;
          }
        }
      }
    }
  }
}

// Letters, digits, white space, and other scripts, in rows of 0 to 40 characters.
TEST(SharedRows, TokensOfScriptsAreThoseOfOneThread) {
  const std::vector<int32_t> kinds = Numbers(60000, 9, 3);
  constexpr int32_t kOf[] = {'a', 'Z', '7', ' ', '\t', 0xE9, 0x3B1, 0x5D0, 0x4E2D, 0x1F600};
  std::vector<int32_t> characters;
  for (const int32_t kind : kinds) characters.push_back(kOf[kind]);
  std::vector<int64_t> splits{0};
  std::mt19937 rng(4);
  while (splits.back() < std::ssize(characters)) {
    splits.push_back(std::min<int64_t>(splits.back() + rng() % 41, std::ssize(characters)));
  }
  for (const char* op : {"UnicodeScriptTokenizeWithOffsets", "WhitespaceTokenizeWithOffsets"}) {
    const std::vector<Tensor> inputs{Tensor::Vector(characters), Tensor::Vector(splits)};
    const auto one = RunOp(op, {{"Tsplits", DType::kInt64}}, inputs, 1);
    const auto many = RunOp(op, {{"Tsplits", DType::kInt64}}, inputs, 4);
    ASSERT_TRUE(one.ok()) << one.status();
    ASSERT_TRUE(many.ok()) << many.status();
    ASSERT_EQ((*one)[4].shape(), Shape({std::ssize(splits)}));
    EXPECT_GT((*one)[2].shape().num_elements(), 10000);
    for (size_t o = 0; o < one->size(); ++o) {
      const Tensor &want = (*one)[o], &got = (*many)[o];
      ASSERT_EQ(got.shape(), want.shape()) << op << " " << o;
      EXPECT_EQ(absl::MakeConstSpan(got.data<uint8_t>(), got.bytes()),
                absl::MakeConstSpan(want.data<uint8_t>(), want.bytes()))
          << op << " " << o;
    }
  }
}

}  // namespace
}  // namespace tenon
