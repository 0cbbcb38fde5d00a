// The whole command line, for the program `tenon` and for the Python package.
#ifndef TENON_TOOLS_COMMAND_LINE_H_
#define TENON_TOOLS_COMMAND_LINE_H_

namespace tenon {

// Runs one command. Returns the exit status: 0; 1 after an error (one line on stderr); 2 for an
// invalid command line.
int CommandLine(int argc, char** argv);

}  // namespace tenon

#endif  // TENON_TOOLS_COMMAND_LINE_H_
