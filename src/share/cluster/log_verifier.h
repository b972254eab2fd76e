#ifndef JOEDB_SRC_SHARE_CLUSTER_LOG_VERIFIER_H
#define JOEDB_SRC_SHARE_CLUSTER_LOG_VERIFIER_H

#include <functional>
#include <string>

#include "share/cluster/log_reader.h"
#include "share/cluster/messages.h"

namespace joedb::inline v1 {

// The result of verifying a log without errors.
struct Log_Report {
  Replicated_Log::Number first = 1;
  Replicated_Log::Number messages = 0;  // number of messages read
  std::int64_t pushes = 0;
  std::int64_t abandoned_pieces = 0;  // pieces of pushes whose writer died during the push
  std::int64_t damaged = 0;           // damaged messages that were read from another machine
  Offset start = journal_start;       // the position in the journal where the log begins
  Offset end = journal_start;         // the checkpoint of the log
  bool is_compared = false;           // true if the log was compared with a file
  // The end of the compared bytes.
  Offset compared_end = journal_start;
};

// Reads all messages of a log that carries a journal, and checks that each message is complete and
// continues the one before it. If `file` is not null, compares the log with the bytes of the file
// before `file_end`. Calls `progress` with the number of each message, and with the number of the
// last message.
//
// A shortened log can only be verified with a file that has the removed part: otherwise, throws
// Exception. Throws Missing_Message for the first message that is missing, is damaged on all
// machines, or does not continue the one before it. Throws Content_Mismatch if the bytes of the
// file differ. Passes on the exceptions of the log.
Log_Report verify_log(
    Replicated_Log& log, Logger& logger, const Abstract_File* file, Offset file_end,
    const std::function<void(Replicated_Log::Number, Replicated_Log::Number)>& progress);

// Returns the checkpoint of a log, from the newest message that can be read; 0 if the log is empty.
// Throws Missing_Message if no message can be read. Passes on the exceptions of the log.
Offset newest_end(Replicated_Log& log, Logger& logger);

}  // namespace joedb::inline v1

#endif
