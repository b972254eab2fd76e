#ifndef JOEDB_JOEDB_H
#define JOEDB_JOEDB_H

// Includes everything that a program may use in addition to the code that joedbc generates.

#include "joedb/base/log.h"
#include "joedb/base/main_wrapper.h"
#include "joedb/commands/interpreted_file.h"
#include "joedb/compiled.h"
#include "joedb/history/changes.h"
#include "joedb/history/undo.h"
#include "joedb/io/memory_file.h"
#include "joedb/text/table_text.h"

#endif
