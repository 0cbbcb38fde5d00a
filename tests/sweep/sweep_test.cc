// The sweep: compares random problems of every kind that oneDNN and our vector code compute with
// the reference kernel, in memory full of NaN. Set ONEDNN_MAX_CPU_ISA to test other
// implementations:
//
//   ONEDNN_MAX_CPU_ISA=AVX2 TENON_SWEEP_COUNT=20000 sweep_test --gtest_filter='*gradient*'
//
// TENON_SWEEP_COUNT is the number of problems per family (default 100), TENON_SWEEP_SEED the first
// seed. FAMILY_special puts a NaN, an infinity or the like into a quarter as many, and runs with
// TENON_STRICT_NAN; FAMILY_special_default without. A failure prints
// its line; TENON_SWEEP_LINE='p: …' runs a single line, and TENON_SWEEP_LIST=1 prints each problem,
// its implementation, and whether it was right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <vector>

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

// What is in the problems' inputs: a quarter as many have one special value.
enum class Values { kOrdinary, kSpecial, kSpecialStrict };

class SweepTest : public ::testing::Test {
 public:
  SweepTest(const Family& family, Values values) : family_(family), values_(values) {}

  void TestBody() override {
    const bool any_special = values_ != Values::kOrdinary;
    const int64_t count = Setting("TENON_SWEEP_COUNT", 100) / (any_special ? 4 : 1);
    const int64_t seed = Setting("TENON_SWEEP_SEED", 0);
    std::map<std::string, std::pair<int64_t, int64_t>> by_implementation;  // problems, wrong ones
    const bool list = Setting("TENON_SWEEP_LIST", 0) != 0;
    int64_t refused = 0, plain = 0, without = 0, excepted = 0;
    std::vector<double> errors;  // against double
    for (int64_t i = seed; i < seed + count; ++i) {
      Dice dice(static_cast<uint64_t>(i) * 1'000'003);
      std::string line = family_.draw(dice);
      absl::StatusOr<Problem> problem = MakeProblem(line, static_cast<uint64_t>(i));
      ASSERT_TRUE(problem.ok()) << problem.status() << "\n" << line;
      if (any_special) {
        problem->strict_nan = values_ == Values::kSpecialStrict;
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
      excepted += verdict->excepted > 0;
      if (verdict->error >= 0) errors.push_back(verdict->error);
      if (verdict->wrong.empty()) continue;
      ++wrong;
      ADD_FAILURE() << "seed " << i << ": " << verdict->wrong << "\n  " << line;
    }
    // TensorFlow refuses few of these draws; a family of refused problems would test nothing.
    EXPECT_LE(refused, count / 5) << "problems refused by the reference kernel";
    std::cout << family_.name << ": " << count << " problems, " << refused << " refused, " << plain
              << " on the reference kernel, " << without << " without a special value, " << excepted
              << " with exceptions for NaN\n";
    if (!errors.empty()) {
      std::sort(errors.begin(), errors.end());
      std::cout << "  error against double: median " << errors[errors.size() / 2] << ", largest "
                << errors.back() << " of " << errors.size() << "\n";
    }
    for (const auto& [name, counts] : by_implementation) {
      std::cout << "  " << name << ": " << counts.first << ", wrong " << counts.second << "\n";
    }
  }

 private:
  const Family family_;
  const Values values_;
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

void Register(const Family& family) {
  for (const Values values : {Values::kOrdinary, Values::kSpecial, Values::kSpecialStrict}) {
    const std::string name =
        absl::StrCat(family.name, values == Values::kOrdinary  ? ""
                                  : values == Values::kSpecial ? "_special_default"
                                                               : "_special");
    // They have no input for special values (docs/NUMERICS.md).
    if (values != Values::kOrdinary &&
        (absl::StrContains(name, "quantized") || absl::StrContains(name, "filter_gradient"))) {
      continue;
    }
    ::testing::RegisterTest(
        "sweep", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [&family, values]() -> ::testing::Test* { return new SweepTest(family, values); });
  }
}

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
  for (const auto families : {Families(), SequenceFamilies()}) {
    for (const Family& family : families) Register(family);
  }
  return true;
}();

}  // namespace
}  // namespace tenon::sweep
