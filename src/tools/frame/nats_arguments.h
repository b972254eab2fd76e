#ifndef JOEDB_SRC_TOOLS_FRAME_NATS_ARGUMENTS_H
#define JOEDB_SRC_TOOLS_FRAME_NATS_ARGUMENTS_H

#include <memory>
#include <string>
#include <string_view>

#include "joedb/base/log.h"
#include "joedb/cluster/log_connection.h"
#include "joedb/cluster/nats_connection.h"
#include "tools/frame/parser.h"

namespace joedb {

// A journal on a cluster of NATS servers, as given on the command line.
struct Nats_Argument {
  std::string name;  // the URL, without secrets
  Nats_Address address;
  Nats_Settings settings;
  Log_Settings log_settings;
  std::optional<System::Duration> retry_time;  // --retry-time
};

// Takes a number of seconds, the value of `option`. Returns System::Duration::max() for "inf".
// Throws Usage_Error.
System::Duration take_time(Words& words, const char* option);
// Like take_time(), but does not accept "inf".
std::chrono::milliseconds take_seconds(Words& words, const char* option);

// Returns true if the word begins with nats:// or tls://.
bool is_nats_url(std::string_view word);

// Takes [--credentials FILE] [--authority FILE] [--certificate FILE --key FILE] [--monitor PORT]
// [--require process|machine|power] [--require-of all|running] [--lease SECONDS] [--retry-time
// SECONDS] URL. Throws Usage_Error if these words are invalid, or if joedb was built without
// libnats.
Nats_Argument take_nats(Words& words);

// Throws the exceptions of Nats_Log.
std::unique_ptr<Replicated_Log> open_log(const Nats_Argument& argument, Logger& log);

// Prints on standard error which failures an acknowledged transaction survives. If it survives a
// power cut, prints this only at a terminal.
void print_promise(const std::string& name, const Replicated_Log::Promise& promise);

// Declares the words of take_nats() as words that keep their position (Options::allow_word).
void allow_nats_words(Options& options);

}  // namespace joedb

#endif
