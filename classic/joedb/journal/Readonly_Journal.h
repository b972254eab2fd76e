// joedb 10's path of Readonly_Journal.
#include "joedb/journal/readonly_journal.h"
