#include "tools/serve/log.h"

#include <cstdio>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/serve/json.h"

namespace tenon::serve {
namespace {

void Log(absl::string_view level, absl::string_view message, LogFields fields) {
  JsonWriter json;
  json.StartObject();
  json.Key("time");
  json.Text(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()));
  json.Key("level");
  json.Text(level);
  json.Key("message");
  json.Text(message);
  for (const auto& [key, value] : fields) {
    json.Key(key);
    json.Text(value);
  }
  json.EndObject();
  const std::string line = json.Take() + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call: lines of threads do not mix
}

}  // namespace

void LogInfo(absl::string_view message, LogFields fields) { Log("info", message, fields); }
void LogWarning(absl::string_view message, LogFields fields) { Log("warning", message, fields); }
void LogError(absl::string_view message, LogFields fields) { Log("error", message, fields); }

}  // namespace tenon::serve
