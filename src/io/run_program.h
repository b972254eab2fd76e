#ifndef JOEDB_SRC_IO_RUN_PROGRAM_H
#define JOEDB_SRC_IO_RUN_PROGRAM_H

#include <string>
#include <vector>

namespace joedb::inline v1 {

// How a program has ended.
struct Program_End {
  int code = 0;    // its exit code, if there was no signal
  int signal = 0;  // the signal that has ended it, or 0
};

// Starts a program, which is looked for in PATH if its name has no '/', and waits for its end. The
// words are its name and its arguments, as they are: no shell sees them. It inherits standard
// input and output, the environment, and which signals are ignored. SIGINT, SIGTERM and SIGHUP that
// come meanwhile are passed on to it, and do not end this process. One thread at a time may do
// this. Throws Io_Error if it cannot be started: ENOENT, EACCES.
Program_End run_program(const std::vector<std::string>& words);

// Ends this process by a signal, as a program that was started.
[[noreturn]] void end_by_signal(int signal);

}  // namespace joedb::inline v1

#endif
