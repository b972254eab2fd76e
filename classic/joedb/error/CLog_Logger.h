// joedb 10's path of CLog_Logger.
#include "joedb/base/log.h"
