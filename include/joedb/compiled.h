#ifndef JOEDB_COMPILED_H
#define JOEDB_COMPILED_H

// What the code that joedbc generates includes, and what its users need beside it.

#include "joedb/base/log.h"
#include "joedb/base/version.h"
#include "joedb/history/typed_history.h"
#include "joedb/io/file.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/replica/clients.h"
#include "joedb/table/typed_writer.h"
#include "joedb/table/writable_database.h"

#endif
