// joedb 10's path of Upgradable_File.
#include "joedb/io/file.h"
