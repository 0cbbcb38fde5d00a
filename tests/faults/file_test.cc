// Disks that are full, folders that cannot be written, files that are cut short or replaced, and
// processes that share a cache folder and are killed.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/npz/npz.h"
#include "runtime/session/session.h"
#include "tests/faults/long.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using State = DiskCacheReport::State;

// No file can become longer than `bytes`, as on a full disk; writers get EFBIG.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_ = {};
};

class FileFaults : public ::testing::Test {
 protected:
  FileFaults() : home_(fs::path(::testing::TempDir()) / absl::StrCat("file_faults_", getpid())) {
    fs::remove_all(home_);
    fs::create_directories(home_);
    fs::copy(SourcePath("tests/models/mlp/saved_model"), model(), fs::copy_options::recursive);
    options_ = DefaultOptions(1);
    options_.cache_dir = cache().string();
    inputs_ = ReadNpz(SourcePath("tests/models/mlp/inputs.npz")).value();
    SessionOptions plain = options_;
    plain.cache_dir = "";
    expected_ = Session::Load(model().string(), {}, plain).value()->Run(inputs_).value();
  }
  ~FileFaults() override { fs::remove_all(home_); }

  fs::path model() const { return home_ / "model"; }
  fs::path cache() const { return home_ / "cache"; }
  fs::path weights() const { return model() / "variables" / "variables.data-00000-of-00001"; }
  absl::StatusOr<std::unique_ptr<Session>> Load() const {
    return Session::Load(model().string(), {}, options_);
  }
  bool Right(Session& session) const {
    const auto outputs = session.Run(inputs_);
    return outputs.ok() && Identical((*outputs)[0].second, expected_[0].second);
  }
  int CacheFiles() const {
    if (!fs::exists(cache())) return 0;
    return static_cast<int>(std::distance(fs::directory_iterator(cache()), {}));
  }
  // The session runs; its cache file was not written, for a reason that names it.
  void ExpectNoCache() {
    auto session = Load();
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE(Right(**session));
    const DiskCacheReport report = (*session)->disk_cache();
    EXPECT_EQ(report.state, State::kFailed);
    EXPECT_TRUE(absl::StrContains(report.status.message(), options_.cache_dir)) << report.status;
  }

  const fs::path home_;
  SessionOptions options_;
  std::vector<NamedTensor> inputs_, expected_;
};

TEST_F(FileFaults, ADiskThatIsFull) {
  const int64_t whole = [&] {
    EXPECT_TRUE(Right(**Load()));
    int64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(cache())) {
      bytes = static_cast<int64_t>(entry.file_size());
    }
    return bytes;
  }();
  ASSERT_GT(whole, 0);
  const int64_t step = faults::Long() ? 61 : whole / 16;
  for (int64_t bytes = 0; bytes < whole && !HasFailure(); bytes += step) {
    SCOPED_TRACE(bytes);
    fs::remove_all(cache());
    {
      const FileLimit limit(static_cast<rlim_t>(bytes));
      ExpectNoCache();
    }
    EXPECT_EQ(CacheFiles(), 0);
    auto session = Load();
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE(Right(**session));
    EXPECT_EQ((*session)->disk_cache().state, State::kWritten);
  }
}

TEST_F(FileFaults, AFolderThatCannotBeMade) {
  for (const char* folder : {"/proc/self/tenon", "/dev/null/tenon"}) {
    options_.cache_dir = folder;
    ExpectNoCache();
  }
}

TEST_F(FileFaults, AFolderThatIsReadOnly) {
  fs::create_directories(cache());
  fs::permissions(cache(), static_cast<fs::perms>(0555));
  // Nothing is read-only for root.
  const uid_t user = geteuid();
  ASSERT_EQ(seteuid(user == 0 ? 65534 : user), 0);
  ExpectNoCache();
  ASSERT_EQ(seteuid(user), 0);
  fs::permissions(cache(), fs::perms::owner_all);
}

// In a container each start may have the same process number as one that was killed.
TEST_F(FileFaults, TemporaryFilesOfAKilledProcessWithThisNumber) {
  ASSERT_TRUE(Right(**Load()));
  const std::string file = fs::directory_iterator(cache())->path().string();
  fs::remove(file);
  for (int i = 0; i < 100; ++i) {
    std::ofstream(absl::StrCat(file, ".", getpid(), ".", i, ".tmp")) << "partial";
  }
  auto session = Load();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(Right(**session));
  EXPECT_EQ((*session)->disk_cache().state, State::kWritten) << (*session)->disk_cache().status;
  session = Load();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->disk_cache().state, State::kRead);
}

TEST_F(FileFaults, ResultsForADiskThatIsFull) {
  const auto status = WriteNpz("/dev/full", expected_);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(absl::StrContains(status.message(), "/dev/full")) << status;
  const fs::path file = home_ / "results.npz";
  {
    const FileLimit limit(20);
    const auto limited = WriteNpz(file.string(), expected_);
    ASSERT_FALSE(limited.ok());
    EXPECT_TRUE(absl::StrContains(limited.message(), file.string())) << limited;
  }
  EXPECT_TRUE(fs::directory_iterator(home_)->path().filename() == "model");
  EXPECT_EQ(std::distance(fs::directory_iterator(home_), {}), 1) << "a partial file is left";
}

TEST_F(FileFaults, FilesOfAModelThatAreCutShort) {
  options_.cache_dir = "";
  for (const fs::path& file :
       {model() / "saved_model.pb", weights(), model() / "variables" / "variables.index"}) {
    const fs::path copy = home_ / "copy";
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
    const auto size = static_cast<int64_t>(fs::file_size(file));
    const int64_t step = faults::Long() ? 1 : std::max<int64_t>(1, size / 12);
    for (int64_t bytes = 0; bytes < size && !HasFailure(); bytes += step) {
      fs::resize_file(file, static_cast<uintmax_t>(bytes));
      const auto session = Load();
      if (file.extension() != ".pb" || !session.ok()) {
        EXPECT_FALSE(session.ok()) << file << " with " << bytes << " of " << size << " bytes";
        // The index is found by its prefix.
        EXPECT_TRUE(absl::StrContains(session.status().message(), model().string()))
            << session.status();
      }
      fs::copy_file(copy, file, fs::copy_options::overwrite_existing);
    }
  }
}

TEST_F(FileFaults, PipesAndFoldersInPlaceOfFiles) {
  options_.cache_dir = "";
  for (const fs::path& file :
       {model() / "saved_model.pb", weights(), model() / "variables" / "variables.index"}) {
    fs::rename(file, home_ / "kept");
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    auto status = Load().status();
    EXPECT_TRUE(absl::StrContains(status.message(), "is not a regular file")) << status;
    fs::remove(file);
    fs::create_directory(file);
    status = Load().status();
    EXPECT_TRUE(absl::StrContains(status.message(), "is not a regular file")) << status;
    fs::remove(file);
    fs::rename(home_ / "kept", file);
  }
}

// What is mapped stays as it was if a file is deleted, or another takes its name.
TEST_F(FileFaults, FilesThatAreReplacedWhileTheyAreUsed) {
  for (const bool through_cache : {false, true}) {
    if (!through_cache) options_.cache_dir = "";
    if (through_cache) {
      options_.cache_dir = cache().string();
      ASSERT_TRUE(Right(**Load()));  // writes it
    }
    auto session = Load();
    ASSERT_TRUE(session.ok()) << session.status();
    fs::rename(model(), home_ / "old");
    fs::remove_all(home_ / "old");
    fs::remove_all(cache());
    EXPECT_TRUE(Right(**session));
    fs::copy(SourcePath("tests/models/mlp/saved_model"), model(), fs::copy_options::recursive);
  }
}

// 16 processes load through one cache folder and write it, while some are killed and files are
// deleted. Nobody may read a wrong value, and no partial file may be taken for a whole one.
TEST_F(FileFaults, ProcessesThatShareTheCacheAreKilled) {
  constexpr int kProcesses = 16;
  const auto duration = std::chrono::seconds(faults::Long() ? 120 : 2);
  struct Shared {
    std::atomic<bool> stop;
    std::atomic<int> loads, reads;
  };
  auto* const shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  new (shared) Shared{};
  const auto start = [&] {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    while (!shared->stop) {
      auto session = Load();
      if (!session.ok()) _exit(3);
      if (!Right(**session)) _exit(4);
      const DiskCacheReport report = (*session)->disk_cache();
      shared->reads += report.state == State::kRead;
      ++shared->loads;
    }
    _exit(0);
  };
  std::vector<pid_t> processes;
  for (int i = 0; i < kProcesses; ++i) processes.push_back(start());
  std::mt19937 random(7);
  int killed = 0, deleted = 0;
  const auto end = std::chrono::steady_clock::now() + duration;
  const auto expect = [](int status) {
    EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0)
        << "a process ended with " << status;
  };
  // On a busy machine it takes longer until enough has happened.
  const auto enough = [&] { return killed > 10 && shared->reads > 0; };
  while ((std::chrono::steady_clock::now() < end || !enough()) && !HasFailure()) {
    usleep(5000 + random() % 20000);
    pid_t& process = processes[random() % kProcesses];
    kill(process, SIGKILL);
    int status = 0;
    waitpid(process, &status, 0);
    expect(status);
    ++killed;
    process = start();
    if (random() % 2 == 0) {
      std::error_code gone;
      for (const auto& entry : fs::directory_iterator(cache(), gone)) {
        if (entry.path().extension() == ".tenon") deleted += fs::remove(entry.path(), gone);
      }
    }
  }
  shared->stop = true;
  for (const pid_t process : processes) {
    int status = 0;
    waitpid(process, &status, 0);
    expect(status);
  }
  auto session = Load();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(Right(**session));
  EXPECT_TRUE(enough());
  std::printf("%d loads, %d of them from the cache; %d processes killed, %d files deleted\n",
              shared->loads.load(), shared->reads.load(), killed, deleted);
  // A later start uses the file.
  session = Load();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->disk_cache().state, State::kRead);
  munmap(shared, sizeof(Shared));
}

}  // namespace
}  // namespace tenon
