// joedb 10's path of main_wrapper.
#include "joedb/base/main_wrapper.h"
