// The settings under which a model must give the same results: gate, cache, threads.
#ifndef TENON_TESTS_SUPPORT_SETTINGS_H_
#define TENON_TESTS_SUPPORT_SETTINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "runtime/session/session.h"

namespace tenon {

// Options that do not depend on the environment.
inline SessionOptions DefaultOptions(int threads) {
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = threads;
  return options;
}

struct Setting {
  std::string label;
  SessionOptions options;
};

// Gate and cache on and off, one thread and two. NaN is kept everywhere, as in TensorFlow.
inline std::vector<Setting> AllSettings() {
  std::vector<Setting> settings;
  for (bool gate : {true, false}) {
    for (bool cache : {true, false}) {
      for (int threads : {1, 2}) {
        Setting s{absl::StrCat("gate ", gate, ", cache ", cache, ", threads ", threads),
                  DefaultOptions(threads)};
        s.options.flags->onednn_opts = gate;
        s.options.flags->primitive_cache = cache;
        s.options.flags->strict_nan = true;
        settings.push_back(std::move(s));
      }
    }
  }
  return settings;
}

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_SETTINGS_H_
