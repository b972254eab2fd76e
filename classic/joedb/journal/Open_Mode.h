// joedb 10's path of Open_Mode.
#include "joedb/io/file.h"
