#include "env/cache_folder.h"

#include <cstdlib>

namespace tenon {

std::string UserCacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/tenon";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == 0 ? "" : std::string(home) + "/.cache/tenon";
}

}  // namespace tenon
