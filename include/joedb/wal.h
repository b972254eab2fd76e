#ifndef JOEDB_WAL_H
#define JOEDB_WAL_H

// Includes all headers of the write-ahead-log library. Link joedb::wal; no database is needed.

#include "joedb/wal/copies.h"
#include "joedb/wal/log.h"
#include "joedb/wal/segments.h"

#endif
