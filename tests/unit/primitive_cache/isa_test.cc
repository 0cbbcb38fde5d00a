#include "primitive_cache/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "hwy/targets.h"
#include "primitive_cache/cache.h"

namespace tenon {
namespace {

// In a separate process, because oneDNN reads its limit once.
[[noreturn]] void ExitWithAvx512Targets(const char* limit) {
  setenv("ONEDNN_MAX_CPU_ISA", limit, /*overwrite=*/1);
  const PrimitiveCache cache;
  const int64_t better_than_avx2 = HWY_AVX2 - 1;
  std::exit((hwy::SupportedTargets() & better_than_avx2) != 0 ? 3 : 4);
}

TEST(IsaDeathTest, OurVectorCodeObeysOnednnsLimit) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "starts processes";
#endif
#if !HWY_ARCH_X86
  GTEST_SKIP() << "for x86";
#endif
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const bool wide = (hwy::SupportedTargets() & (HWY_AVX2 - 1)) != 0;
  EXPECT_EXIT(ExitWithAvx512Targets("AVX2"), testing::ExitedWithCode(4), "");
  EXPECT_EXIT(ExitWithAvx512Targets("DEFAULT"), testing::ExitedWithCode(wide ? 3 : 4), "");
}

}  // namespace
}  // namespace tenon
