// The sweep: compares random problems of every kind that oneDNN and our vector code compute with
// the reference kernel, in memory full of NaN. Set ONEDNN_MAX_CPU_ISA to test other
// implementations:
//
//   ONEDNN_MAX_CPU_ISA=AVX2 TENON_SWEEP_COUNT=20000 sweep_test --gtest_filter='*gradient*'
//
// TENON_SWEEP_COUNT is the number of problems per family (default 100), TENON_SWEEP_SEED the first
// seed. FAMILY_special puts a NaN, an infinity or the like into a quarter as many. A failure prints
// its line; TENON_SWEEP_LINE='p: …' runs a single line, and TENON_SWEEP_LIST=1 prints each problem,
// its implementation, and whether it was right.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "primitive_cache/isa.h"
#include "tests/sweep/draw.h"
#include "tests/sweep/known.h"
#include "tests/sweep/problem.h"

namespace tenon::sweep {
namespace {

int64_t Setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(text, &value)) {
    ADD_FAILURE() << name << " is no number: " << text;
  }
  return value;
}

class SweepTest : public ::testing::Test {
 public:
  // `special`: with one special value in an input; a quarter as many problems.
  SweepTest(const Family& family, bool special) : family_(family), special_(special) {}

  void TestBody() override {
    const int64_t count = Setting("TENON_SWEEP_COUNT", 100) / (special_ ? 4 : 1);
    const int64_t seed = Setting("TENON_SWEEP_SEED", 0);
    std::map<std::string, std::pair<int64_t, int64_t>> by_implementation;  // problems, wrong ones
    const bool list = Setting("TENON_SWEEP_LIST", 0) != 0;
    int64_t refused = 0, plain = 0, without = 0;
    for (int64_t i = seed; i < seed + count; ++i) {
      Dice dice(static_cast<uint64_t>(i) * 1'000'003);
      std::string line = family_.draw(dice);
      absl::StatusOr<Problem> problem = MakeProblem(line, static_cast<uint64_t>(i));
      ASSERT_TRUE(problem.ok()) << problem.status() << "\n" << line;
      if (special_) {
        const std::string special = SetSpecial(*problem, static_cast<uint64_t>(i));
        if (special.empty()) {
          ++without;
          continue;
        }
        absl::StrAppend(&line, "\n  with ", special);
      }
      if (list)
        std::cout << line << std::endl;  // flushed, so that it shows even if the problem crashes
      const absl::StatusOr<Verdict> verdict = Check(*problem);
      if (!verdict.ok()) {
        EXPECT_TRUE(absl::IsInvalidArgument(verdict.status()) ||
                    absl::IsUnimplemented(verdict.status()))
            << verdict.status() << "\n"
            << line;
        if (refused++ == 0) std::cout << "refused: " << verdict.status() << "\n  " << line << "\n";
        continue;
      }
      if (!verdict->accelerated) {
        ++plain;
        continue;
      }
      auto& [problems, wrong] = by_implementation[verdict->implementation];
      ++problems;
      if (list) {
        std::cout << (verdict->wrong.empty() ? "right: " : "wrong: ") << verdict->implementation
                  << "\n";
      }
      if (verdict->wrong.empty()) continue;
      ++wrong;
      ADD_FAILURE() << "seed " << i << ": " << verdict->wrong << "\n  " << line;
    }
    // TensorFlow refuses few of these draws; a family of refused problems would test nothing.
    EXPECT_LE(refused, count / 5) << "problems refused by the reference kernel";
    std::cout << family_.name << ": " << count << " problems, " << refused << " refused, " << plain
              << " on the reference kernel, " << without << " without a special value\n";
    for (const auto& [name, counts] : by_implementation) {
      std::cout << "  " << name << ": " << counts.first << ", wrong " << counts.second << "\n";
    }
  }

 private:
  const Family family_;
  const bool special_;
};

class LinesTest : public ::testing::Test {
 public:
  explicit LinesTest(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  void TestBody() override {
    for (const std::string& line : lines_) {
      SCOPED_TRACE(line);
      const absl::StatusOr<Problem> problem = MakeProblem(line, 1);
      ASSERT_TRUE(problem.ok()) << problem.status();
      const absl::StatusOr<Verdict> verdict = Check(*problem);
      ASSERT_TRUE(verdict.ok()) << verdict.status();
      EXPECT_EQ(verdict->wrong, "");
      std::cout << (verdict->accelerated ? verdict->implementation : "reference kernel") << "\n";
    }
  }

 private:
  const std::vector<std::string> lines_;
};

const bool registered = [] {
  PoisonAllocations();
  LimitVectorCode();
  const char* const line = std::getenv("TENON_SWEEP_LINE");
  const auto known = KnownProblems();
  const std::vector<std::string> lines = line != nullptr
                                             ? std::vector<std::string>{line}
                                             : std::vector<std::string>(known.begin(), known.end());
  ::testing::RegisterTest("sweep", line != nullptr ? "line" : "known", nullptr, nullptr, __FILE__,
                          __LINE__, [lines]() -> ::testing::Test* { return new LinesTest(lines); });
  if (line != nullptr) return true;
  for (const Family& family : Families()) {
    for (const bool special : {false, true}) {
      const std::string name = absl::StrCat(family.name, special ? "_special" : "");
      // They have no input for special values (docs/NUMERICS.md).
      if (special &&
          (absl::StrContains(name, "quantized") || absl::StrContains(name, "filter_gradient"))) {
        continue;
      }
      ::testing::RegisterTest(
          "sweep", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
          [&family, special]() -> ::testing::Test* { return new SweepTest(family, special); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace tenon::sweep
