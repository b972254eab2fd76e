// joedb 10's path of Server_Connection.
#include "joedb/network/server_connection.h"
