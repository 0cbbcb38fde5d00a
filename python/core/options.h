// The options of a session, from a Python dict.
#ifndef TENON_PYTHON_CORE_OPTIONS_H_
#define TENON_PYTHON_CORE_OPTIONS_H_

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <deque>
#include <string>

#include "tenon/tenon.h"

namespace tenon::python {

// Keeps the strings for as long as the C struct is used.
class Options {
 public:
  explicit Options(nanobind::dict given) : given_(given) {}

  // The dict has every option.
  tenon_session_options OfSession() {
    tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
    options.threads = Int("threads");
    options.onednn_opts = Int("onednn_opts");
    options.signature = Text("signature");
    options.fetches = Text("fetches");
    options.cache_dir = Text("cache_dir");
    options.plugins = Text("plugins");
    options.device = Text("device");
    options.precision = Text("precision");
    options.feeds = Text("feeds");
    options.tags = Text("tags");
    options.memory_limit = nanobind::cast<int64_t>(nanobind::object(given_["memory_limit"]));
    return options;
  }

 private:
  const char* Text(const char* name) {
    const nanobind::object value = given_[name];
    if (value.is_none()) return nullptr;
    return texts_.emplace_back(nanobind::cast<std::string>(value)).c_str();
  }
  int Int(const char* name) { return nanobind::cast<int>(nanobind::object(given_[name])); }

  nanobind::dict given_;
  std::deque<std::string> texts_;
};

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_OPTIONS_H_
