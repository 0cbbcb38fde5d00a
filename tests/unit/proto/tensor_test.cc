// TensorProto in each of its encodings, and contents that must not be trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <string>

#include "absl/strings/str_cat.h"
#include "load_testing.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Tensor> Parse(const std::string& dtype, const std::string& tensor) {
  const std::string graph = absl::StrCat(
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: ", dtype,
      " } } attr { key: 'value' value { tensor { dtype: ", dtype, " ", tensor, " } } } }");
  LoadOptions options = Lenient();
  options.fetches = {"c"};
  auto model = LoadText(graph, options);
  if (!model.ok()) return model.status();
  return *model->graph.FindNode("c")->attr<Tensor>("value");
}

template <typename T>
std::vector<T> Values(const std::string& dtype, const std::string& tensor) {
  const auto t = Parse(dtype, tensor);
  EXPECT_TRUE(t.ok()) << t.status();
  if (!t.ok()) return {};
  EXPECT_EQ(t->dtype(), DTypeTraits<T>::value);
  return std::vector<T>(t->data<T>(), t->data<T>() + t->num_elements());
}

std::string ErrorOf(const std::string& dtype, const std::string& tensor) {
  const auto t = Parse(dtype, tensor);
  return t.ok() ? "parsed" : std::string(t.status().message());
}

const char kTwo[] = "tensor_shape { dim { size: 2 } } ";
const char kThree[] = "tensor_shape { dim { size: 3 } } ";

TEST(TensorProto, TypedFields) {
  EXPECT_THAT(Values<float>("DT_FLOAT", absl::StrCat(kTwo, "float_val: 1 float_val: -2.5")),
              ElementsAre(1, -2.5f));
  EXPECT_THAT(Values<double>("DT_DOUBLE", absl::StrCat(kTwo, "double_val: [3, 4]")),
              ElementsAre(3, 4));
  EXPECT_THAT(Values<int32_t>("DT_INT32", absl::StrCat(kTwo, "int_val: [5, -6]")),
              ElementsAre(5, -6));
  EXPECT_THAT(Values<uint8_t>("DT_UINT8", absl::StrCat(kTwo, "int_val: [7, 255]")),
              ElementsAre(7, 255));
  EXPECT_THAT(Values<int8_t>("DT_INT8", absl::StrCat(kTwo, "int_val: [7, -8]")),
              ElementsAre(7, -8));
  EXPECT_THAT(Values<uint16_t>("DT_UINT16", absl::StrCat(kTwo, "int_val: [7, 65535]")),
              ElementsAre(7, 65535));
  EXPECT_THAT(Values<int64_t>("DT_INT64", absl::StrCat(kTwo, "int64_val: [1, -9007199254740993]")),
              ElementsAre(1, -9007199254740993));
  EXPECT_THAT(Values<uint32_t>("DT_UINT32", absl::StrCat(kTwo, "uint32_val: [1, 4294967295]")),
              ElementsAre(1u, 4294967295u));
  EXPECT_THAT(Values<uint64_t>("DT_UINT64", absl::StrCat(kTwo, "uint64_val: [1, 2]")),
              ElementsAre(1u, 2u));
  EXPECT_THAT(Values<bool>("DT_BOOL", absl::StrCat(kTwo, "bool_val: [true, false]")),
              ElementsAre(true, false));
  EXPECT_THAT(Values<std::string>("DT_STRING", absl::StrCat(kTwo, "string_val: ['a', '\\000b']")),
              ElementsAre("a", std::string("\0b", 2)));
  EXPECT_THAT(
      Values<std::complex<float>>("DT_COMPLEX64", absl::StrCat(kTwo, "scomplex_val: [1,2,3,4]")),
      ElementsAre(std::complex<float>(1, 2), std::complex<float>(3, 4)));
  EXPECT_THAT(
      Values<std::complex<double>>("DT_COMPLEX128", absl::StrCat(kTwo, "dcomplex_val: [1,2,3,4]")),
      ElementsAre(std::complex<double>(1, 2), std::complex<double>(3, 4)));
}

TEST(TensorProto, SixteenBitFloatsAreStoredAsBits) {
  const auto h = Parse("DT_HALF", "half_val: 15360");
  ASSERT_TRUE(h.ok()) << h.status();
  EXPECT_EQ(static_cast<float>(*h->data<Eigen::half>()), 1.0f);
  const auto b = Parse("DT_BFLOAT16", "half_val: 49184");
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_EQ(static_cast<float>(*b->data<Eigen::bfloat16>()), -2.5f);
}

TEST(TensorProto, QuantizedTypes) {
  const auto t = Parse("DT_QUINT8", absl::StrCat(kTwo, "int_val: [0, 200]"));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->dtype(), DType::kQuint8);
  EXPECT_EQ(t->data<uint8_t>()[1], 200);
  const auto q = Parse("DT_QINT32", absl::StrCat(kTwo, "int_val: [-1, 70000]"));
  ASSERT_TRUE(q.ok()) << q.status();
  EXPECT_EQ(q->data<int32_t>()[1], 70000);
}

TEST(TensorProto, EightAndFourBits) {
  const auto e5m2 = Parse("DT_FLOAT8_E5M2", absl::StrCat(kThree, "float8_val: '\\074\\300'"));
  ASSERT_TRUE(e5m2.ok()) << e5m2.status();
  EXPECT_EQ(e5m2->dtype(), DType::kFloat8E5m2);
  EXPECT_THAT(e5m2->flat<uint8_t>(), ElementsAre(0x3C, 0xC0, 0xC0));  // 1, -2, -2
  const auto e4m3 = Parse("DT_FLOAT8_E4M3FN", absl::StrCat(kTwo, "tensor_content: '\\070\\176'"));
  ASSERT_TRUE(e4m3.ok()) << e4m3.status();
  EXPECT_THAT(e4m3->flat<uint8_t>(), ElementsAre(0x38, 0x7E));  // 1, 448
  const auto i4 = Parse("DT_INT4", absl::StrCat(kTwo, "int_val: [-8, 7]"));
  ASSERT_TRUE(i4.ok()) << i4.status();
  EXPECT_THAT(i4->flat<int8_t>(), ElementsAre(-8, 7));
  EXPECT_FALSE(Parse("DT_FLOAT8_E5M2FNUZ", absl::StrCat(kTwo, "tensor_content: 'ab'")).ok());
}

TEST(TensorProto, LastValueRepeats) {
  EXPECT_THAT(Values<float>("DT_FLOAT", absl::StrCat(kThree, "float_val: [1, 2]")),
              ElementsAre(1, 2, 2));
  EXPECT_THAT(Values<std::string>("DT_STRING", absl::StrCat(kThree, "string_val: 'ab'")),
              ElementsAre("ab", "ab", "ab"));
  EXPECT_THAT(
      Values<std::complex<float>>("DT_COMPLEX64", absl::StrCat(kTwo, "scomplex_val: [1,2]")),
      ElementsAre(std::complex<float>(1, 2), std::complex<float>(1, 2)));
  EXPECT_THAT(Values<float>("DT_FLOAT", kThree), ElementsAre(0, 0, 0));
}

TEST(TensorProto, Content) {
  EXPECT_THAT(
      Values<int16_t>("DT_INT16", absl::StrCat(kTwo, R"(tensor_content: "\001\000\377\377")")),
      ElementsAre(1, -1));
  // A bool is read as 0 or 1, whatever the file contains.
  EXPECT_THAT(Values<bool>("DT_BOOL", absl::StrCat(kTwo, R"(tensor_content: "\002\000")")),
              ElementsAre(true, false));
  std::string many;
  for (int i = 0; i < 1024; ++i) many += "\\000\\000\\200\\077";
  const auto t = Values<float>(
      "DT_FLOAT",
      absl::StrCat("tensor_shape { dim { size: 1024 } } tensor_content: \"", many, "\""));
  EXPECT_EQ(t, std::vector<float>(1024, 1.0f));
}

// As TensorFlow's constant folding writes them: sizes, then bytes.
TEST(TensorProto, StringsInContent) {
  EXPECT_THAT(Values<std::string>("DT_STRING",
                                  absl::StrCat(kThree, R"(tensor_content: "\002\000\001abc")")),
              ElementsAre("ab", "", "c"));
  for (const char* damaged : {R"("\002")", R"("\002\001\001abc")", R"("\001\001\001abcd")",
                              R"("\377\377\377\377\377\377\377\377\377\001\001\001a")"}) {
    EXPECT_THAT(ErrorOf("DT_STRING", absl::StrCat(kThree, "tensor_content: ", damaged)),
                HasSubstr("of a string tensor of shape [3] are damaged"));
  }
}

TEST(TensorProto, HostileShapesAndCounts) {
  EXPECT_THAT(ErrorOf("DT_FLOAT", absl::StrCat(kTwo, "float_val: [1, 2, 3]")),
              HasSubstr("node 'c' (Const): attribute 'value': a float tensor of shape [2] has 3"));
  EXPECT_THAT(ErrorOf("DT_FLOAT", absl::StrCat(kTwo, "tensor_content: 'abc'")),
              HasSubstr("has 3 bytes of content"));
  EXPECT_THAT(ErrorOf("DT_FLOAT", "tensor_shape { dim { size: -1 } } float_val: 1"),
              HasSubstr("node 'c'"));
  EXPECT_THAT(ErrorOf("DT_FLOAT", "tensor_shape { dim { size: -7 } } float_val: 1"),
              HasSubstr("dimension -7"));
  EXPECT_THAT(ErrorOf("DT_FLOAT", "tensor_shape { unknown_rank: true } float_val: 1"),
              HasSubstr("node 'c'"));
  // 2^40 elements from one value; and a product that overflows.
  EXPECT_THAT(ErrorOf("DT_FLOAT", "tensor_shape { dim { size: 1099511627776 } } float_val: 1"),
              HasSubstr("is given by 1 values: too large"));
  EXPECT_THAT(ErrorOf("DT_STRING", "tensor_shape { dim { size: 1099511627776 } } string_val: 'a'"),
              HasSubstr("too large"));
  EXPECT_THAT(
      ErrorOf("DT_FLOAT", "tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }"),
      HasSubstr("node 'c'"));
  EXPECT_THAT(ErrorOf("DT_RESOURCE", ""), HasSubstr("tensors of dtype resource"));
  EXPECT_THAT(ErrorOf("DT_INVALID", ""), HasSubstr("dtype number 0"));
  EXPECT_THAT(ErrorOf("DT_FLOAT8_E5M2FNUZ", ""), HasSubstr("dtype number 28"));
}

// Repeated values are counted over the whole file: each of these alone would be accepted.
TEST(TensorProto, RepeatsAddUp) {
  auto zeros = [](const std::string& name, int64_t bytes) {
    return absl::StrCat("node { name: '", name,
                        "' op: 'Const' attr { key: 'dtype' value { type: DT_INT8 } } attr { key: "
                        "'value' value { tensor { dtype: DT_INT8 tensor_shape { dim { size: ",
                        bytes, " } } } } } }\n");
  };
  LoadOptions options = Lenient();
  options.fetches = {"a", "b"};
  const int64_t limit = int64_t{1} << 31;
  const auto model = LoadText(zeros("a", 1 << 20) + zeros("b", limit - (1 << 19)), options);
  EXPECT_THAT(std::string(model.status().message()), HasSubstr("too large"));
}

}  // namespace
}  // namespace tenon
