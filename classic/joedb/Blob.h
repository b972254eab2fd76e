// joedb 10's path of Blob.
#include "joedb/base/types.h"
