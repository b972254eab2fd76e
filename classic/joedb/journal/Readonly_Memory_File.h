// joedb 10's path of Readonly_Memory_File.
#include "joedb/io/memory_file.h"
