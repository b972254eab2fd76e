#ifndef TESTING_JOURNAL_FUZZER_H
#define TESTING_JOURNAL_FUZZER_H

#include <string_view>

namespace joedb::testing {

// Does with a file of any bytes all that a program might: reads it in each recovery mode, opens it
// for writing, appends to it and reads it again. Aborts, with a text on standard error, where a
// promise is broken; errors that the library reports are none.
void fuzz_journal(std::string_view file);

}  // namespace joedb::testing

#endif
