// What people see in a browser: a page of the models, and their graphs.
#ifndef TENON_TOOLS_SERVE_PAGE_H_
#define TENON_TOOLS_SERVE_PAGE_H_

#include <mutex>
#include <string>
#include <thread>

#include "absl/strings/string_view.h"
#include "tools/serve/http_server.h"
#include "tools/serve/repository.h"

namespace tenon::serve {

inline constexpr char kGraphsPath[] = "/graphs/";
// The page needs nothing but itself and the server's statistics.
inline constexpr char kPagePolicy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'";

// HTML: every version with its state and signatures, its rates (the page asks for /v2/models/stats
// every two seconds), and a link to each signature's graph.
std::string StartPage(const Repository& repository);

// Answers /graphs/MODEL/VERSION/SIGNATURE with all that there is to know of the graph
// ("tenon.explore", docs/explore.schema.json). This rewrites the model anew, so it is done on a
// thread of its own, for one request at a time: others get 429.
class GraphMaker {
 public:
  ~GraphMaker() { Close(); }
  void Make(const Repository& repository, absl::string_view path, Respond respond);
  // Waits for the one that is being made.
  void Close();

 private:
  std::mutex mutex_;
  bool busy_ = false;
  std::thread thread_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_PAGE_H_
