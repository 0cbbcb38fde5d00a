// What the terminal can show.
#ifndef TENON_ENV_TERMINAL_H_
#define TENON_ENV_TERMINAL_H_

namespace tenon {

// Columns of the terminal that is standard output; `otherwise` if it is none.
int TerminalWidth(int otherwise);
// Whether standard output is a terminal that shows colors, and NO_COLOR is not set.
bool HasColors();
// Whether standard error is a terminal.
bool ErrorsAreSeen();

}  // namespace tenon

#endif  // TENON_ENV_TERMINAL_H_
