// joedb 10's path of Span.
#include "joedb/table/typed.h"
