// Sorts by keys against std::stable_sort: each dtype of keys, several keys, short rows and long
// ones, each dimension.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "kernels/interface/types.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

// `range`: how many different numbers; the least ones of the dtype are among them.
template <typename T>
Tensor Keys(const Shape& shape, uint64_t range, std::mt19937_64& random) {
  Tensor t = *Tensor::Allocate(DTypeTraits<T>::value, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<T>()[i] =
        static_cast<T>(std::numeric_limits<T>::min() + static_cast<T>(random() % range));
  }
  return t;
}

template <typename T>
class SortByKeysOf : public ::testing::Test {};
using KeyTypes =
    ::testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(SortByKeysOf, KeyTypes);

// One key of type T, in ascending order, and one of int32, descending, before positions.
template <typename T>
void Check(int64_t outer, int64_t length, int64_t inner, uint64_t range) {
  SCOPED_TRACE(absl::StrCat(outer, "x", length, "x", inner, ", ", range, " numbers"));
  const char* const dtype = Name(DTypeTraits<T>::value);
  auto graph = ParseGraph(absl::StrCat(
      "in a = %a\nin b = %b\nin x = %x\n%a = Placeholder() {dtype=", dtype,
      ", shape=<*>}\n%b = Placeholder() {dtype=int32, shape=<*>}\n%x = Placeholder() {dtype=int64, "
      "shape=<*>}\n%d = Const() {dtype=int32, value=int32<>{1}}\n%y = _SortByKeys(%a, %b, %x, %d) "
      "{K=[",
      dtype, ", int32], T=[int64], descending=[false, true]}\nout y = %y\n"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  SessionOptions options;
  options.threads = 2;
  auto session = Session::Create(*std::move(graph), options);
  ASSERT_TRUE(session.ok()) << session.status();
  std::mt19937_64 random(static_cast<uint64_t>(length + inner));
  const Shape shape({outer, length, inner});
  const Tensor a = Keys<T>(shape, range, random), b = Keys<int32_t>(shape, 3, random);
  Tensor x = *Tensor::Allocate(DType::kInt64, shape);
  std::iota(x.data<int64_t>(), x.data<int64_t>() + x.num_elements(), 0);
  const auto y = (*session)->Run({a, b, x});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t row = 0; row < outer * inner; ++row) {
    const int64_t first = row / inner * length * inner + row % inner;
    std::vector<int64_t> want(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i) want[static_cast<size_t>(i)] = first + i * inner;
    std::stable_sort(want.begin(), want.end(), [&](int64_t i, int64_t j) {
      const T ai = a.data<T>()[i], aj = a.data<T>()[j];
      return ai != aj ? ai < aj : b.data<int32_t>()[i] > b.data<int32_t>()[j];
    });
    for (int64_t i = 0; i < length; ++i) {
      ASSERT_EQ((*y)[0].data<int64_t>()[first + i * inner], want[static_cast<size_t>(i)])
          << "row " << row << ", element " << i;
    }
  }
}

TYPED_TEST(SortByKeysOf, AsAStableSort) {
  for (const int64_t length : {0, 1, 2, 17, 255, 256, 1000}) {
    Check<TypeParam>(2, length, 3, 1 << 20);
    Check<TypeParam>(3, length, 1, 5);
  }
  Check<TypeParam>(1, 5000, 1, uint64_t{1} << 40);
}

}  // namespace
}  // namespace tenon
