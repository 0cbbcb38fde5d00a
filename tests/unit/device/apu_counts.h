// The counters of the sample plug-in (tests/plugin/apu), and how to make it fail.
#ifndef TENON_TESTS_UNIT_DEVICE_APU_COUNTS_H_
#define TENON_TESTS_UNIT_DEVICE_APU_COUNTS_H_

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

namespace tenon {

inline std::string ApuPath() {
  const char* path = std::getenv("TENON_TEST_APU");
  return path == nullptr ? TENON_APU : path;
}

// Of the plug-in at `path`, which must be loaded.
inline int64_t ApuCount(const char* name, const std::string& path = ApuPath()) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto count = reinterpret_cast<int64_t (*)(const char*)>(dlsym(library, "apu_count"));
  const int64_t n = count(name);
  dlclose(library);
  return n;
}

// Counts from its construction on.
class ApuCounts {
 public:
  int64_t operator()(const char* name) const { return ApuCount(name) - start_.at(name); }

 private:
  const std::map<std::string, int64_t> start_ = [] {
    std::map<std::string, int64_t> start;
    for (const char* name : {"kernels_made", "kernels_deleted", "kernel_runs", "allocations",
                             "bytes_in_use", "blocks_in_use", "streams_in_use", "events_in_use",
                             "copies_to_device", "copies_to_host"}) {
      start[name] = ApuCount(name);
    }
    return start;
  }();
};

// Sets APU_FAIL during its lifetime.
class ApuFails {
 public:
  explicit ApuFails(const char* where) { setenv("APU_FAIL", where, 1); }
  ~ApuFails() { unsetenv("APU_FAIL"); }
};

}  // namespace tenon

#endif  // TENON_TESTS_UNIT_DEVICE_APU_COUNTS_H_
