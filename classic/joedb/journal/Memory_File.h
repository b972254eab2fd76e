// joedb 10's path of Memory_File.
#include "joedb/io/memory_file.h"
