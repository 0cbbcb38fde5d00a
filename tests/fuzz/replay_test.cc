// Runs each fuzz target on the inputs of its corpus (tests/fuzz/corpus/NAME), so that what was
// found once does not come back, and on inputs made from those at random: a few of each target, as
// many as asked for, or for some seconds of CPU time, shared by all targets. The seed is fixed
// unless TENON_FUZZ_SEED is a number or `random`; CI takes it from the commit (changed_inputs.sh).
//
//   TENON_FUZZ_ROUNDS=100000 build/bin/fuzz_test --gtest_filter=*/op_call
//   TENON_FUZZ_SEED=random TENON_FUZZ_SHARED_SECONDS=60 build/bin/fuzz_test
//
// An input that crashes, or runs for a minute of CPU time, is written to the file that the last
// line names; the same seed gives it again.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/fuzz/targets/target.h"
#include "tests/support/limits.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

#ifndef TENON_FUZZ_CORPUS
#define TENON_FUZZ_CORPUS "tests/fuzz/corpus"
#endif
constexpr char kCorpus[] = TENON_FUZZ_CORPUS;
constexpr uint32_t kSeed = 20240917;
constexpr int kRounds = 40;

std::vector<fs::path> CorpusOf(const std::string& target) {
  std::vector<fs::path> files;
  const fs::path folder = SourcePath(kCorpus + ("/" + target));
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// For OnCrash: the input that runs, the file that it goes to, and the line to print.
std::string running, crash_path, crash_line;

// Async-signal-safe.
void OnCrash(int signal) {
  const int fd = open(crash_path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (fd >= 0 && write(fd, running.data(), running.size()) >= 0) {
    (void)!write(STDERR_FILENO, crash_line.data(), crash_line.size());
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void RunOn(const FuzzTarget& target, const std::string& bytes) {
  target.run(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// Of one input: CPU time, which other programs do not lengthen; wall time ends one that waits.
constexpr int kMostCpuSeconds = 60, kMostSeconds = 600;
constexpr int kFailures[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGPROF};

void LimitTime(bool on) {
  itimerval cpu{};
  cpu.it_value.tv_sec = on ? kMostCpuSeconds : 0;
  setitimer(ITIMER_PROF, &cpu, nullptr);
  alarm(on ? kMostSeconds : 0);
}

class FuzzCorpus : public ::testing::TestWithParam<const FuzzTarget*> {};

TEST_P(FuzzCorpus, IsHandled) {
  const FuzzTarget& target = *GetParam();
  const std::vector<fs::path> files = CorpusOf(target.name);
  EXPECT_FALSE(files.empty()) << target.name << " has no corpus";
  const MemoryLimit limit;
  RunOn(target, "");
  for (const fs::path& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());  // for whoever reads of a crash
    RunOn(target, ReadFile(file));
  }
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}
  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  // One to four changes: bytes, cuts, repeats, or a piece of another input.
  std::string Change(std::string bytes, const std::string& other) {
    for (size_t i = 0; i <= Below(4); ++i) {
      const size_t at = Below(bytes.size() + 1);
      switch (Below(6)) {
        case 0:
          bytes.erase(at, Below(16));
          break;
        case 1:
          bytes.insert(at, other.substr(Below(other.size() + 1), Below(64)));
          break;
        case 2:
          bytes.insert(at, 1 + Below(8), static_cast<char>(Below(256)));
          break;
        default:
          if (at < bytes.size()) bytes[at] = static_cast<char>(Below(256));
      }
    }
    return bytes;
  }

 private:
  std::mt19937 random_;
};

// How long to go on, and from which seed, as the environment says.
class Budget {
 public:
  Budget() {
    if (const char* seed = std::getenv("TENON_FUZZ_SEED"); seed != nullptr) {
      seed_ = seed == std::string("random")
                  ? std::random_device()()
                  : static_cast<uint32_t>(std::strtoul(seed, nullptr, 10));
    }
    if (const char* seconds = std::getenv("TENON_FUZZ_SHARED_SECONDS"); seconds != nullptr) {
      seconds_ = std::atof(seconds) / static_cast<double>(AllFuzzTargets().size());
    } else if (const char* rounds = std::getenv("TENON_FUZZ_ROUNDS"); rounds != nullptr) {
      rounds_ = std::atoi(rounds);
    }
  }
  uint32_t seed() const { return seed_; }
  bool Allows(int round) const {
    if (seconds_ == 0) return round < rounds_;
    return static_cast<double>(std::clock() - start_) < seconds_ * CLOCKS_PER_SEC;
  }

 private:
  const std::clock_t start_ = std::clock();
  double seconds_ = 0;  // 0: count rounds
  int rounds_ = kRounds;
  uint32_t seed_ = kSeed;
};

TEST_P(FuzzCorpus, ChangedAtRandomIsHandled) {
  const FuzzTarget& target = *GetParam();
  const std::vector<fs::path> files = CorpusOf(target.name);
  ASSERT_FALSE(files.empty()) << target.name << " has no corpus";
  const MemoryLimit limit;
  crash_path = ::testing::TempDir() + "tenon_fuzz_input_" + std::to_string(getpid());
  for (const int signal : kFailures) std::signal(signal, OnCrash);
  const Budget budget;
  crash_line = crash_path + ", of TENON_FUZZ_SEED=" + std::to_string(budget.seed()) + "\n";
  Mutator mutate(budget.seed());
  int round = 0;
  for (; budget.Allows(round); ++round) {
    std::string bytes = ReadFile(files[mutate.Below(files.size())]);
    bytes = mutate.Change(bytes, ReadFile(files[mutate.Below(files.size())]));
    if (mutate.Below(8) == 0) {  // nothing but chance
      bytes.resize(mutate.Below(512));
      for (char& byte : bytes) byte = static_cast<char>(mutate.Below(256));
    }
    running = std::move(bytes);
    LimitTime(true);
    RunOn(target, running);
    LimitTime(false);
  }
  for (const int signal : kFailures) std::signal(signal, SIG_DFL);
  std::printf("%d changed inputs, seed %u\n", round, budget.seed());
}

INSTANTIATE_TEST_SUITE_P(, FuzzCorpus, ::testing::ValuesIn(AllFuzzTargets()),
                         [](const auto& info) { return std::string(info.param->name); });

// A folder of another name would never be read.
TEST(FuzzCorpora, EveryFolderHasATarget) {
  for (const auto& entry : fs::directory_iterator(SourcePath(kCorpus))) {
    EXPECT_NE(FindFuzzTarget(entry.path().filename().string()), nullptr) << entry.path();
  }
}

}  // namespace
}  // namespace tenon
