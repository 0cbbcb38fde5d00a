// The user's folder for files that may be deleted.
#ifndef TENON_ENV_CACHE_FOLDER_H_
#define TENON_ENV_CACHE_FOLDER_H_

#include <string>

namespace tenon {

// $XDG_CACHE_HOME/tenon, or $HOME/.cache/tenon; empty if neither is set.
std::string UserCacheFolder();

}  // namespace tenon

#endif  // TENON_ENV_CACHE_FOLDER_H_
