#include "tools/frame/nats_arguments.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "tools/frame/source.h"
#include "tools/frame/standard_input.h"
#ifdef JOEDB_HAS_NATS
#include "joedb/cluster/nats_connection.h"
#endif

namespace joedb {

bool is_nats_url(std::string_view word) {
  return word.starts_with("nats://") || word.starts_with("tls://");
}

void allow_nats_words(Options& options) {
  constexpr std::array names{"--credentials", "--authority", "--certificate",
                             "--key",         "--monitor",   "--require",
                             "--require-of",  "--lease",     "--retry-time"};
  for (const char* const name : names) options.allow_word(name);
}

void print_promise(const std::string& name, const Replicated_Log::Promise& promise) {
  if (promise.durability == Durability::power && !is_interactive()) return;
  std::cerr << name << ": what is acknowledged " << text_of(promise.durability) << ": "
            << promise.reason << '\n';
}

std::chrono::milliseconds take_seconds(Words& words, const char* option) {
  const std::string text = words.take_name();
  char* end;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds >= 0 && seconds <= 1e9))
    words.fail(std::string(option) + ": expected a number of seconds, got " + text);
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
}

System::Duration take_time(Words& words, const char* option) {
  if (words.take_if("inf")) return System::Duration::max();
  return take_seconds(words, option);
}

#ifdef JOEDB_HAS_NATS

namespace {

Nats_Settings::Asked take_asked(Words& words) {
  const std::string word = words.take_name();
  if (word == "all") return Nats_Settings::Asked::all;
  if (word == "running") return Nats_Settings::Asked::running;
  words.fail("--require-of: expected all or running, got " + word);
}

Durability take_durability(Words& words) {
  const std::string word = words.take_name();
  if (word == "process") return Durability::process;
  if (word == "machine") return Durability::machine;
  if (word == "power") return Durability::power;
  words.fail("--require: expected process, machine or power, got " + word);
}

std::chrono::milliseconds take_lease(Words& words) {
  const std::string text = words.take_name();
  char* end;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds >= 1 && seconds <= 86'400))
    words.fail("--lease: expected 1 to 86400 seconds, got " + text);
  return std::chrono::milliseconds(std::llround(1000 * seconds));
}

}  // namespace

Nats_Argument take_nats(Words& words) {
  Nats_Argument result;
  Nats_Settings& settings = result.settings;
  for (;;) {
    if (words.take_if("--credentials"))
      settings.credentials_file = words.take_name();
    else if (words.take_if("--authority"))
      settings.authority_file = words.take_name();
    else if (words.take_if("--certificate"))
      settings.certificate_file = words.take_name();
    else if (words.take_if("--key"))
      settings.key_file = words.take_name();
    else if (words.take_if("--monitor"))
      settings.monitor = words.take_name();
    else if (words.take_if("--require"))
      result.log_settings.required = take_durability(words);
    else if (words.take_if("--require-of"))
      settings.asked = take_asked(words);
    else if (words.take_if("--lease"))
      result.log_settings.lease = take_lease(words);
    else if (words.take_if("--retry-time"))
      result.retry_time = take_time(words, "--retry-time");
    else
      break;
  }
  if (settings.certificate_file.empty() != settings.key_file.empty())
    words.fail("--certificate and --key must be given together");
  if (words.is_empty()) words.fail("nats: the URL is missing: nats://HOST[,HOST...]/DATABASE");
  result.address = Nats_Address::parse(words.take_name());
  result.name = result.address.url();
  result.log_settings.open_archive = [](const std::string& place) {
    return open_source(place, {});
  };
  return result;
}

std::unique_ptr<Replicated_Log> open_log(const Nats_Argument& argument, Logger& log) {
  return std::make_unique<Nats_Log>(argument.address, argument.settings, log);
}

#else

Nats_Argument take_nats(Words& words) {
  words.fail("nats: this program was built without libnats (Debian: libnats-dev)");
}

// Unreachable: take_nats always throws.
std::unique_ptr<Replicated_Log> open_log(const Nats_Argument&, Logger&) { return nullptr; }

#endif

}  // namespace joedb
