// joedb 10's path of main_exception_catcher.
#include "joedb/base/main_wrapper.h"
