// joedb 10's path of Exception.
#include "joedb/base/error.h"
