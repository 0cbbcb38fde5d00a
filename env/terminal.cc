#include "env/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace tenon {

int TerminalWidth(int otherwise) {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return size.ws_col;
}

bool HasColors() {
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no != nullptr && *no != 0) return false;
  return isatty(STDOUT_FILENO) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

bool ErrorsAreSeen() { return isatty(STDERR_FILENO) != 0; }

}  // namespace tenon
