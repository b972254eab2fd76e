// joedb 10's path of File_Connection.
#include "joedb/replica/client.h"
