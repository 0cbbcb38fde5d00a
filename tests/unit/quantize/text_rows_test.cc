// Rows of a text, and the inputs of a model for them.
#include "runtime/quantize/text_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> Count(int64_t n) {
  std::vector<int64_t> ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

TensorInfo Input(const std::string& name, const Shape& shape, DType dtype = DType::kInt32) {
  return {name, dtype, shape};
}
const Shape kOpen({-1, -1});

// All batches.
std::vector<TextBatch> Cut(const std::vector<int64_t>& ids, const std::vector<TensorInfo>& inputs,
                           const TextRowOptions& options) {
  const auto rows = RowsOfText(ids, inputs, options);
  EXPECT_TRUE(rows.ok()) << rows.status();
  std::vector<TextBatch> batches;
  for (int64_t b = 0; rows.ok() && b < rows->num_batches; ++b) {
    auto batch = rows->batch(b);
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (batch.ok()) batches.push_back(*std::move(batch));
  }
  return batches;
}

std::string Refused(const std::vector<int64_t>& ids, const std::vector<TensorInfo>& inputs,
                    const TextRowOptions& options = {}) {
  const auto rows = RowsOfText(ids, inputs, options);
  if (!rows.ok()) return std::string(rows.status().message());
  return std::string(rows->batch(0).status().message());
}

const Tensor& Named(const TextBatch& batch, const std::string& name) {
  static const Tensor none;
  for (const auto& [key, tensor] : batch.inputs) {
    if (key == name) return tensor;
  }
  ADD_FAILURE() << "no input " << name;
  return none;
}

TEST(TextRows, OneWholeRow) {
  const auto batches = Cut(Count(4), {Input("ids", kOpen)}, {.length = 4});
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].shape, Shape({1, 4}));
  EXPECT_THAT(batches[0].ids, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(batches[0].lengths, ElementsAre(4));
  ASSERT_EQ(batches[0].inputs.size(), 1u);
  EXPECT_THAT(Named(batches[0], "ids").flat<int32_t>(), ElementsAre(1, 2, 3, 4));
}

TEST(TextRows, RemainderHasItsOwnRun) {
  const auto batches =
      Cut(Count(15), {Input("ids", kOpen, DType::kInt64)}, {.length = 4, .batch = 2});
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_THAT(batches[0].ids, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(batches[1].shape, Shape({1, 4}));
  EXPECT_EQ(batches[2].shape, Shape({1, 3}));
  EXPECT_THAT(batches[2].ids, ElementsAre(13, 14, 15));
  EXPECT_THAT(batches[2].lengths, ElementsAre(3));
  EXPECT_THAT(Named(batches[2], "ids").flat<int64_t>(), ElementsAre(13, 14, 15));
}

TEST(TextRows, SingleTokenAtTheEndIsLeftOut) {
  for (const int64_t fixed : {-1, 4}) {
    const auto batches = Cut(Count(9), {Input("ids", Shape({-1, fixed}))}, {.length = 4});
    ASSERT_EQ(batches.size(), 1u);
    EXPECT_EQ(batches[0].shape, Shape({2, 4}));
    EXPECT_THAT(batches[0].lengths, ElementsAre(4, 4));
  }
}

TEST(TextRows, ShorterThanARow) {
  const auto batches = Cut(Count(3), {Input("ids", kOpen)}, {});
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].shape, Shape({1, 3}));
}

TEST(TextRows, FixedLengthIsPadded) {
  const std::vector<TensorInfo> inputs = {Input("padding_mask", Shape({-1, 4}), DType::kBool),
                                          Input("attention_mask", kOpen, DType::kFloat),
                                          Input("ids", kOpen)};
  const auto batches = Cut(Count(6), inputs, {});
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_THAT(Named(batches[0], "ids").flat<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6, 0, 0));
  EXPECT_THAT(Named(batches[0], "padding_mask").flat<bool>(),
              ElementsAre(true, true, true, true, true, true, false, false));
  EXPECT_THAT(Named(batches[0], "attention_mask").flat<float>(),
              ElementsAre(1, 1, 1, 1, 1, 1, 0, 0));
  EXPECT_THAT(batches[0].lengths, ElementsAre(4, 2));
}

TEST(TextRows, FixedBatchesAreFilled) {
  const std::vector<TensorInfo> inputs = {Input("tokens", Shape({2, -1})),
                                          Input("attention_mask", kOpen)};
  const auto batches = Cut(Count(14), inputs, {.length = 4});
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_THAT(batches[1].ids, ElementsAre(9, 10, 11, 12, 9, 10, 11, 12));
  EXPECT_THAT(batches[1].lengths, ElementsAre(4, 0));
  EXPECT_THAT(batches[2].ids, ElementsAre(13, 14, 13, 14));
  EXPECT_THAT(batches[2].lengths, ElementsAre(2, 0));
  EXPECT_THAT(Named(batches[2], "attention_mask").flat<int32_t>(), ElementsAre(1, 1, 1, 1));
}

TEST(TextRows, RowsOfARunByDefault) {
  const std::vector<TensorInfo> inputs = {Input("ids", kOpen)};
  EXPECT_EQ(Cut(Count(2048), inputs, {}).size(), 4u);
  EXPECT_EQ(Cut(Count(2048), inputs, {.length = 128}).size(), 4u);
  EXPECT_EQ(Cut(Count(2048), inputs, {.length = 2}).size(), 128u);
  EXPECT_EQ(Cut(Count(2048), inputs, {.length = 1024}).size(), 2u);
}

TEST(TextRows, PositionsAndTypes) {
  const std::vector<TensorInfo> inputs = {Input("input_ids", kOpen),
                                          Input("position_ids", kOpen),
                                          Input("positions", Shape({-1}), DType::kInt64),
                                          Input("cache_position", Shape({1, -1})),
                                          Input("position", Shape()),
                                          Input("start", Shape({1})),
                                          Input("past_length", Shape({-1, 1})),
                                          Input("token_type_ids", kOpen),
                                          Input("segment_ids", Shape::Unknown(), DType::kInt64)};
  const auto batches = Cut(Count(6), inputs, {.length = 3});
  ASSERT_EQ(batches.size(), 1u);
  const TextBatch& batch = batches[0];
  EXPECT_EQ(batch.inputs.size(), inputs.size());
  EXPECT_EQ(Named(batch, "position_ids").shape(), Shape({2, 3}));
  EXPECT_THAT(Named(batch, "position_ids").flat<int32_t>(), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(Named(batch, "positions").flat<int64_t>(), ElementsAre(0, 1, 2));
  EXPECT_EQ(Named(batch, "cache_position").shape(), Shape({1, 3}));
  EXPECT_THAT(Named(batch, "cache_position").flat<int32_t>(), ElementsAre(0, 1, 2));
  EXPECT_EQ(Named(batch, "position").shape(), Shape());
  EXPECT_THAT(Named(batch, "position").flat<int32_t>(), ElementsAre(0));
  EXPECT_EQ(Named(batch, "start").shape(), Shape({1}));
  EXPECT_EQ(Named(batch, "past_length").shape(), Shape({2, 1}));
  EXPECT_THAT(Named(batch, "token_type_ids").flat<int32_t>(), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(Named(batch, "segment_ids").shape(), Shape({2, 3}));
}

TEST(TextRows, TokenInput) {
  // The one that is named; the usual one; the only one.
  const std::vector<TensorInfo> two = {Input("x", kOpen), Input("attention_mask", kOpen)};
  EXPECT_EQ(Cut(Count(2), two, {})[0].inputs.size(), 2u);
  EXPECT_EQ(Cut(Count(2), {Input("words", kOpen)}, {.tokens = "words"}).size(), 1u);
  TensorInfo optional = Input("other", Shape());
  optional.optional = true;
  EXPECT_EQ(Cut(Count(2), {Input("x", kOpen), optional}, {})[0].inputs.size(), 1u);
  EXPECT_THAT(Refused(Count(2), {Input("x", kOpen), Input("y", kOpen)}), HasSubstr("x (int32"));
  EXPECT_THAT(Refused(Count(2), {Input("x", kOpen)}, {.tokens = "z"}), HasSubstr("no input 'z'"));
  EXPECT_THAT(Refused(Count(2), {Input("x", kOpen, DType::kFloat)}, {.tokens = "x"}),
              HasSubstr("'x' is float"));
}

TEST(TextRows, Refused) {
  const std::vector<TensorInfo> open = {Input("ids", kOpen)};
  EXPECT_THAT(Refused({}, open), HasSubstr("a text of 0 tokens"));
  EXPECT_THAT(Refused({5}, open), HasSubstr("a text of 1 tokens"));
  EXPECT_THAT(Refused({5, int64_t{1} << 40}, open), HasSubstr("does not fit into int32"));
  EXPECT_THAT(Refused(Count(2), open, {.length = 1}), HasSubstr("predict nothing"));
  EXPECT_THAT(Refused(Count(2), {Input("ids", Shape({-1, 1}))}), HasSubstr("predict nothing"));
  EXPECT_THAT(Refused(Count(2), {Input("ids", Shape({-1, 8}))}, {.length = 4}),
              HasSubstr("rows of 8 tokens, not of 4"));
  EXPECT_THAT(Refused(Count(2), {Input("ids", Shape({3, -1}))}, {.batch = 4}),
              HasSubstr("batches of 3, not 4"));
  EXPECT_THAT(Refused(Count(2), {Input("ids", Shape({0, -1}))}), HasSubstr("batches of 0"));
  EXPECT_THAT(Refused(Count(2), {Input("ids", Shape({-1}))}), HasSubstr("'ids' has shape [?]"));
  EXPECT_THAT(Refused(Count(2), {open[0], Input("attention_mask", Shape({-1, 1, -1, -1}))}),
              HasSubstr("'attention_mask' has shape [?,1,?,?]"));
  EXPECT_THAT(Refused(Count(2), {open[0], Input("attention_mask", kOpen, DType::kString)}),
              HasSubstr("'attention_mask'"));
  EXPECT_THAT(Refused(Count(2), {open[0], Input("cache", kOpen, DType::kFloat)}),
              HasSubstr("'cache' does not follow from a text"));
}

TEST(TextRows, Arrays) {
  const std::vector<NamedTensor> arrays = {
      {"x", Tensor::From<int64_t>(Shape({3, 2}), {1, 2, 3, 4, 5, 6})}};
  const auto rows = RowsOfArrays(arrays, {Input("x", kOpen, DType::kInt64)}, "", 2);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->num_batches, 2);
  const auto last = rows->batch(1);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->shape, Shape({1, 2}));
  EXPECT_THAT(last->ids, ElementsAre(5, 6));
  EXPECT_THAT(last->lengths, ElementsAre(2));
  EXPECT_FALSE(RowsOfArrays(arrays, {Input("y", kOpen)}, "", 2).ok());
  EXPECT_FALSE(RowsOfArrays(arrays, {Input("x", kOpen)}, "y", 2).ok());
}

}  // namespace
}  // namespace tenon
