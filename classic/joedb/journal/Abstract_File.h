// joedb 10's path of Abstract_File.
#include "joedb/io/file.h"
