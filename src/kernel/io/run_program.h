#ifndef JOEDB_SRC_KERNEL_IO_RUN_PROGRAM_H
#define JOEDB_SRC_KERNEL_IO_RUN_PROGRAM_H

#include <string>
#include <vector>

namespace joedb::inline v1 {

// How a program ended.
struct Program_End {
  int code = 0;    // exit code, if no signal ended it
  int signal = 0;  // signal that ended it, or 0
};

// Runs a program and waits for its end. `words` are its name and its arguments, passed as they are,
// without a shell; the name is looked up in PATH if it has no '/'. The program inherits standard
// input and output, the environment, and the set of ignored signals. While the program runs,
// SIGINT, SIGTERM and SIGHUP are forwarded to it and do not end this process. Only one thread at a
// time may call this. Throws Io_Error if the program cannot be started: ENOENT, EACCES.
Program_End run_program(const std::vector<std::string>& words);

// Ends this process by `signal`, as a program that it ran was ended.
[[noreturn]] void end_by_signal(int signal);

}  // namespace joedb::inline v1

#endif
