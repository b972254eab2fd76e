#ifndef JOEDB_CLI_NATS_ARGUMENTS_H
#define JOEDB_CLI_NATS_ARGUMENTS_H

#include <memory>
#include <string>
#include <string_view>

#include "cli/parser.h"
#include "joedb/base/log.h"
#include "joedb/cluster/log_connection.h"
#include "joedb/cluster/nats_stream.h"

namespace joedb {

// A journal on a cluster of NATS servers, as the command line names it.
struct Nats_Argument {
  std::string name;  // the URL, without secrets
  Nats_Address address;
  Nats_Settings settings;
  Log_Settings log_settings;
};

// Whether it is nats:// or tls://.
bool is_nats_url(std::string_view word);

// [--credentials FILE] [--authority FILE] [--certificate FILE --key FILE] [--monitor PORT]
// [--require process|machine|power] [--lease SECONDS] URL. Fails where this program was built
// without libnats.
Nats_Argument take_nats(Words& words);

// Throws what Nats_Log throws.
std::unique_ptr<Replicated_Log> open_log(const Nats_Argument& argument, Logger& log);

// Says on standard error what an acknowledged transaction survives: always if that is not a power
// cut, otherwise to people.
void print_promise(const std::string& name, const Replicated_Log::Promise& promise);

// These words keep their places.
void allow_nats_words(Options& options);

}  // namespace joedb

#endif
