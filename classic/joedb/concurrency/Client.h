// joedb 10's path of Client.
#include "joedb/replica/client.h"
