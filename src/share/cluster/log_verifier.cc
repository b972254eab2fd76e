#include "share/cluster/log_verifier.h"

#include <algorithm>
#include <utility>

namespace joedb::inline v1 {

using Number = Replicated_Log::Number;

// Returns a reader for the first message of the log. If the log was shortened, this is the first
// remaining message.
static Log_Reader begin(const Replicated_Log& log, Messages& messages, Number first,
                        const Abstract_File* file, Offset file_end) {
  if (first == 1) return Log_Reader({}, Prefix_Hash());
  const Log_State state = Log_State::after(first, messages.read_known(first)->content);
  if (file == nullptr || file_end < state.journal.end)
    throw Exception(log.name() + " was shortened and begins at position " +
                    std::to_string(state.journal.end) +
                    ": name a file that has what is before, to compare with");
  Prefix_Hash hash;
  hash.append(*file, state.journal.end);
  if (hash.state() != state.journal)
    throw Content_Mismatch(file->get_name(), journal_start, state.journal.end);
  return Log_Reader(state, std::move(hash));
}

Log_Report verify_log(Replicated_Log& log, Logger& logger, const Abstract_File* file,
                      Offset file_end, const std::function<void(Number, Number)>& progress) {
  const Replicated_Log::Range range = log.range();
  if (range.last == 0)
    throw Disconnection(log.name() + " has no journal; joedb nats create makes it");
  Messages messages(log, logger);
  Log_Reader reader = begin(log, messages, range.first, file, file_end);
  Log_Report report;
  report.first = range.first;
  report.start = reader.state().journal.end;
  report.is_compared = file != nullptr;
  report.compared_end = std::min(file_end, report.start);
  while (reader.state().number < range.last) {
    const Number number = reader.state().number + 1;
    progress(number, range.last);
    try {
      reader.take(messages.read_known(number)->content);
    } catch (const Corruption_Error& error) {
      throw Missing_Message(log.name() + ": " + error.what(), number);
    }
    if (!reader.has_bytes()) continue;
    const Offset start = reader.start();
    const Offset end = std::min(file_end, reader.state().journal.end);
    if (file != nullptr && start < end) {
      if (!file->equal_to(reader.bytes(), start, end))
        throw Content_Mismatch(file->get_name(), start, end);
      report.compared_end = end;
    }
    reader.drop_bytes();
  }
  report.messages = range.last - range.first + 1;
  report.pushes = reader.pushes();
  report.abandoned_pieces = reader.abandoned_pieces();
  report.damaged = messages.damaged();
  report.end = reader.state().journal.end;
  return report;
}

Offset newest_end(Replicated_Log& log, Logger& logger) {
  const Replicated_Log::Range range = log.range();
  Messages messages(log, logger);
  for (Number number = range.last; number >= range.first; --number) {
    try {
      return messages.read_known(number)->content.after.end;
    } catch (const Missing_Message& error) {
      logger.log(error.what());
      if (number == range.first) throw;
    }
  }
  return 0;
}

}  // namespace joedb::inline v1
