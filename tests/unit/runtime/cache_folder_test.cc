#include "runtime/disk_cache/cache_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

class CacheFolderTest : public ::testing::Test {
 protected:
  CacheFolderTest() : home_(fs::path(::testing::TempDir()) / absl::StrCat("folder_", getpid())) {
    fs::remove_all(home_);
    fs::create_directories(home_);
  }
  ~CacheFolderTest() override { fs::remove_all(home_); }

  static std::string Name(char digit) { return std::string(32, digit) + ".tenon"; }
  std::string Path(const std::string& name) const { return (home_ / name).string(); }
  void Write(const std::string& name, size_t bytes, int hours_ago) {
    std::ofstream(home_ / name) << std::string(bytes, 'x');
    fs::last_write_time(home_ / name,
                        fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(home_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  const fs::path home_;
};

TEST_F(CacheFolderTest, WhatWasUsedLongestAgoGoesFirst) {
  Write(Name('a'), 100, 3);
  Write(Name('b'), 100, 2);
  Write(Name('c'), 100, 1);
  MarkUsed(Path(Name('a')));
  auto deleted = TrimCacheFolder(home_.string(), 250, "");
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(*deleted, 1);
  EXPECT_EQ(Names(), (std::set<std::string>{Name('a'), Name('c')}));
  const auto files = ListCacheFolder(home_.string());
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].path, Path(Name('a')));
  EXPECT_EQ((*files)[0].bytes, 100);
}

TEST_F(CacheFolderTest, TheFileJustWrittenStays) {
  Write(Name('a'), 100, 1);
  Write(Name('b'), 900, 5);
  ASSERT_TRUE(TrimCacheFolder(home_.string(), 200, Path(Name('b'))).ok());
  EXPECT_EQ(Names(), std::set<std::string>{Name('b')});
}

TEST_F(CacheFolderTest, ForeignFilesAreNotTouched) {
  const std::set<std::string> foreign = {"notes.txt", "a.tenon", std::string(32, 'a'),
                                         Name('g'),  // not a hexadecimal digit
                                         Name('a') + ".bak"};
  for (const std::string& name : foreign) Write(name, 100, 1000);
  fs::create_directory(home_ / Name('d'));
  std::set<std::string> stay = foreign;
  stay.insert(Name('d'));
  Write(Name('a'), 100, 0);
  Write(Name('a') + ".12.0.tmp", 100, 2);  // its writer died
  Write(Name('b') + ".13.0.tmp", 100, 0);
  stay.insert(Name('b') + ".13.0.tmp");
  auto deleted = TrimCacheFolder(home_.string(), 0, "");
  ASSERT_TRUE(deleted.ok());
  EXPECT_EQ(*deleted, 2);
  EXPECT_EQ(Names(), stay);
}

TEST_F(CacheFolderTest, NoFolder) {
  EXPECT_TRUE(absl::IsNotFound(ListCacheFolder((home_ / "nowhere").string()).status()));
  EXPECT_FALSE(TrimCacheFolder((home_ / "nowhere").string(), 0, "").ok());
  MarkUsed((home_ / "nowhere").string());
}

}  // namespace
}  // namespace tenon
