#ifndef JOEDB_SRC_SHARE_CLUSTER_LOG_VERIFIER_H
#define JOEDB_SRC_SHARE_CLUSTER_LOG_VERIFIER_H

#include <functional>
#include <string>

#include "share/cluster/log_reader.h"
#include "share/cluster/messages.h"

namespace joedb::inline v1 {

// The report on a log without errors.
struct Log_Report {
  Replicated_Log::Number first = 1;
  Replicated_Log::Number messages = 0;  // number of messages read
  std::int64_t pushes = 0;
  std::int64_t abandoned_pieces = 0;  // of pushes whose writer died in the middle
  std::int64_t damaged = 0;           // messages that were read from another machine
  Offset start = journal_start;       // position in the journal where the log begins
  Offset end = journal_start;         // its checkpoint
  bool is_compared = false;           // with a file
  Offset compared_end = journal_start;
};

// Reads all messages of a log that carries a journal, and checks that each is complete and
// continues the message before it. If there is a file, compares its bytes before `file_end`. Calls
// `progress` with the number of each message, and the number of the last one.
//
// A log that was shortened needs a file with the removed part; without it, this throws Exception.
// Throws Missing_Message for the first message that is missing, damaged on all machines, or does
// not continue the message before it; Content_Mismatch if the file has other bytes; and the
// exceptions of the log.
Log_Report verify_log(
    Replicated_Log& log, Logger& logger, const Abstract_File* file, Offset file_end,
    const std::function<void(Replicated_Log::Number, Replicated_Log::Number)>& progress);

// Returns the checkpoint of a log, by the newest message that can be read; 0 for an empty log.
// Throws Missing_Message if no message can be read, and the exceptions of the log.
Offset newest_end(Replicated_Log& log, Logger& logger);

}  // namespace joedb::inline v1

#endif
