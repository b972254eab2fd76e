// joedb 10's path of Connection.
#include "joedb/replica/client.h"
