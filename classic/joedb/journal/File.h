// joedb 10's path of File.
#include "joedb/io/posix_file.h"
