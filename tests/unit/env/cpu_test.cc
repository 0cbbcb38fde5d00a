#include "env/cpu.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace tenon {
namespace {

TEST(Cpu, FollowsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(AvailableCpus(), 1);
  EXPECT_LE(AvailableCpus(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &before)) continue;
    CPU_SET(i, &one);
    break;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AvailableCpus(), 1);
  EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

TEST(Cpu, Describes) {
  EXPECT_FALSE(CpuName().empty());
  EXPECT_GT(PeakResidentBytes(), 1 << 20);
}

}  // namespace
}  // namespace tenon
