#ifndef CLUSTER_LOG_VERIFIER_H
#define CLUSTER_LOG_VERIFIER_H

#include <functional>
#include <string>

#include "cluster/log_reader.h"
#include "cluster/messages.h"

namespace joedb::inline v1 {

// What was found in a log that is in order.
struct Log_Report {
  Replicated_Log::Number first = 1;
  Replicated_Log::Number messages = 0;  // that were read
  std::int64_t pushes = 0;
  std::int64_t abandoned_pieces = 0;  // of pushes whose writer has ended in the middle
  std::int64_t damaged = 0;           // messages that were read on another machine
  Offset start = journal_start;       // the position where the log begins
  Offset end = journal_start;         // its checkpoint
  bool is_compared = false;           // with a file
  Offset compared_end = journal_start;
};

// Reads all messages of a log that carries a journal, and checks that each is whole and continues
// the one before. If there is a file, compares all bytes with it, as far as it goes. Progress is
// called with the number of each message, and the last one.
//
// A log that was shortened needs a file with what is before, or throws Exception. Throws
// Missing_Message for the first message that is missing, damaged on all machines, or does
// not fit; Content_Mismatch if the file has other bytes; what the log throws.
Log_Report verify_log(
    Replicated_Log& log, Logger& logger, const Abstract_File* file, Offset file_end,
    const std::function<void(Replicated_Log::Number, Replicated_Log::Number)>& progress);

// The checkpoint of a log, as far as its newest messages can be read; 0 for an empty one. Throws
// Missing_Message if none can be read, and what the log throws.
Offset newest_end(Replicated_Log& log, Logger& logger);

}  // namespace joedb::inline v1

#endif
