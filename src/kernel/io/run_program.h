#ifndef JOEDB_SRC_KERNEL_IO_RUN_PROGRAM_H
#define JOEDB_SRC_KERNEL_IO_RUN_PROGRAM_H

#include <string>
#include <vector>

namespace joedb::inline v1 {

// The result of a program that has ended.
struct Program_End {
  int code = 0;    // exit code, if no signal ended it
  int signal = 0;  // signal that ended it; 0 if none did
};

// Runs a program and waits for its end. `words` are its name and its arguments, which are passed
// unchanged, without a shell. If the name has no '/', it is looked up in PATH. The program inherits
// standard input and output, the environment, and the set of ignored signals. While the program
// runs, SIGINT, SIGTERM and SIGHUP are forwarded to it and do not end this process. Only one thread
// at a time may call this. Throws Io_Error, for example ENOENT or EACCES, if the program cannot be
// started.
Program_End run_program(const std::vector<std::string>& words);

// Ends this process by `signal`. Called if a program that this process ran was ended by this
// signal.
[[noreturn]] void end_by_signal(int signal);

}  // namespace joedb::inline v1

#endif
