// joedb 10's path of Writable_Journal.
#include "joedb/journal/writable_journal.h"
