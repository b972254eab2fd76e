#ifndef JOEDB_JOEDB_H
#define JOEDB_JOEDB_H

// Everything a program may use beside the code that joedbc generates for its schema.

#include "joedb/base/log.h"
#include "joedb/base/main_wrapper.h"
#include "joedb/commands/interpreted_file.h"
#include "joedb/compiled.h"
#include "joedb/history/changes.h"
#include "joedb/history/undo.h"
#include "joedb/io/memory_file.h"
#include "joedb/text/table_text.h"

#endif
