#ifndef JOEDB_WAL_H
#define JOEDB_WAL_H

// The write-ahead-log library: everything of it. Link joedb::wal; no database is needed.

#include "joedb/wal/copies.h"
#include "joedb/wal/log.h"
#include "joedb/wal/segments.h"

#endif
