#ifndef BASE_STANDARD_DESCRIPTORS_H
#define BASE_STANDARD_DESCRIPTORS_H

// Descriptors 0, 1 and 2 are standard input, output and error, also of a process that was started
// without them: the next file that is opened gets the number, and what the program prints is
// written to that file. So no file or socket of ours may have one of these numbers.

namespace joedb::inline v1 {

// Gives those of the three numbers that are free to /dev/null, so that no file that is opened later
// gets them. Reading and writing fail there (EBADF), as they did before. Call this before code of
// others opens files or sockets.
void occupy_standard_descriptors() noexcept;

}  // namespace joedb::inline v1

#endif
