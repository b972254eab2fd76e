// joedb 10's path of Server_Connection.
#include "joedb/network/robust_connection.h"
