// Eager calls through the C interface, and through the C++ interface over it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "include/tenon/tenon.hpp"

namespace {

using tenon::api::Attrs;
using tenon::api::Error;
using tenon::api::Handle;
using tenon::api::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Floats(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  Tensor t = Tensor::Create<float>(dims);
  std::copy(values.begin(), values.end(), t.data<float>());
  return t;
}
std::vector<float> Values(Tensor t) {
  return {t.data<float>(), t.data<float>() + t.num_elements()};
}

TEST(CEager, Executes) {
  const Tensor a = Floats({1, 2}, {1, 2});
  const Tensor b = Floats({1, 2}, {3, 4});
  auto y = tenon::api::eager::Execute("MatMul", {&a, &b}, Attrs().Set("transpose_b", true));
  ASSERT_EQ(y.size(), 1u);
  EXPECT_THAT(Values(std::move(y[0])), ElementsAre(11));
  tenon::api::Eager off(1, 0);
  auto z = off.Execute("AddV2", {&a, &b});
  EXPECT_THAT(Values(std::move(z[0])), ElementsAre(4, 6));
}

TEST(CEager, AttributesOfEveryKind) {
  const Tensor x = Floats({1, 4, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  auto y = tenon::api::eager::Execute(
      "MaxPool", {&x},
      Attrs().Set("ksize", {1, 2, 2, 1}).Set("strides", {1, 2, 2, 1}).Set("padding", "VALID"));
  EXPECT_THAT(Values(std::move(y[0])), ElementsAre(5, 7, 13, 15));
  const Tensor negative = Floats({1}, {-2});
  y = tenon::api::eager::Execute("LeakyRelu", {&negative}, Attrs().Set("alpha", 0.5f));
  EXPECT_THAT(Values(std::move(y[0])), ElementsAre(-1));
  y = tenon::api::eager::Execute("Cast", {&x}, Attrs().Set("DstT", TENON_DOUBLE));
  EXPECT_EQ(y[0].dtype(), TENON_DOUBLE);
}

TEST(CEager, Submits) {
  Handle x(Floats({2}, {1, -2}));
  auto y = tenon::api::eager::Submit("Relu", {&x});
  auto z = tenon::api::eager::Submit("AddV2", {&y[0], &x});
  EXPECT_THAT(Values(z[0].Read()), ElementsAre(2, -2));
  EXPECT_TRUE(z[0].ready());
  auto bad = tenon::api::eager::Submit("MatMul", {&x, &x});
  auto worse = tenon::api::eager::Submit("Relu", {&bad[0]});
  try {
    worse[0].Read();
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("MatMul"));
    EXPECT_EQ(e.code(), TENON_INVALID_ARGUMENT);
  }
}

TEST(CEager, Errors) {
  const Tensor x = Floats({2}, {1, 2});
  EXPECT_THROW(tenon::api::eager::Execute("NoSuchOp", {&x}), Error);
  EXPECT_THROW(tenon::api::eager::Execute("Relu", {&x}, Attrs().Set("T", TENON_INT32)), Error);
  const tenon_tensor* in[] = {x.get(), nullptr};
  tenon_tensor* out[1];
  int room = 0;
  for (tenon_status* status :
       {tenon_eager_execute(nullptr, "Relu", in, 1, nullptr, out, &room),
        tenon_eager_execute(nullptr, "AddV2", in, 2, nullptr, out, &room),
        tenon_eager_execute(nullptr, nullptr, in, 1, nullptr, out, &room),
        tenon_eager_execute(nullptr, "Relu", in, 1, nullptr, out, nullptr),
        tenon_handle_create(nullptr, nullptr), tenon_attrs_set_int(nullptr, "a", 1)}) {
    EXPECT_EQ(tenon_status_code(status), TENON_INVALID_ARGUMENT);
    tenon_status_free(status);
  }
}

}  // namespace
