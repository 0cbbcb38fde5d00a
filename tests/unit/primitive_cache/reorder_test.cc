// Reorders in slices give the same bytes, padding included, as those on one thread.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

struct Case {
  std::string name;
  memory::dims dims;
  Tag from, to;
  Type type = Type::f32;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<uint8_t> Reordered(const memory::desc& from, const std::vector<uint8_t>& bytes,
                               const memory::desc& to, int threads) {
  std::vector<uint8_t> result(to.get_size(), 0xa5);
  const auto reorder = MakeReorder(from, to, threads);
  EXPECT_EQ(reorder->scratch_bytes(), 0u);
  const absl::Status status =
      reorder->Execute({const_cast<uint8_t*>(bytes.data()), result.data()}, nullptr);
  EXPECT_TRUE(status.ok()) << status;
  return result;
}

class SlicedReorders : public ::testing::TestWithParam<Case> {};

TEST_P(SlicedReorders, SameAsWhole) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer does not see the barriers of libgomp";
#endif
  const Case& c = GetParam();
  const memory::desc from(c.dims, c.type, c.from), to(c.dims, c.type, c.to);
  ASSERT_GE(from.get_size() + to.get_size(), size_t{64} << 10) << "not sliced";
  std::vector<uint8_t> plain(from.get_size());
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<uint8_t>(i * 7 % 61);
  const std::vector<uint8_t> packed = Reordered(from, plain, to, 1);
  const std::vector<uint8_t> back = Reordered(to, packed, from, 1);
  for (const int threads : {2, 3, 8}) {
    EXPECT_EQ(Reordered(from, plain, to, threads), packed) << threads << " threads";
    EXPECT_EQ(Reordered(to, packed, from, threads), back) << threads << " threads, back";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, SlicedReorders,
    ::testing::Values(Case{"whole_blocks", {64, 64, 3, 3}, Tag::hwio, Tag::OIhw16i16o},
                      Case{"padding", {100, 37, 3, 3}, Tag::hwio, Tag::OIhw16i16o},
                      Case{"few_blocks", {20, 700, 1, 1}, Tag::hwio, Tag::OIhw8i8o},
                      Case{"one_block", {8, 8, 16, 17}, Tag::hwio, Tag::OIhw8i8o},
                      Case{"padding_at_the_end", {33, 520, 1, 1}, Tag::oihw, Tag::Oihw16o},
                      Case{"groups", {3, 40, 24, 3, 3}, Tag::hwigo, Tag::gOIhw8i8o},
                      Case{"transposed", {300, 501}, Tag::ab, Tag::ba},
                      Case{"image", {2, 30, 33, 35}, Tag::nhwc, Tag::nChw16c},
                      Case{"bfloat16", {96, 200, 3, 1}, Tag::hwio, Tag::OIhw8i16o2i, Type::bf16},
                      Case{"bytes", {96, 200, 3, 3}, Tag::hwio, Tag::OIhw4i16o4i, Type::u8}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon
