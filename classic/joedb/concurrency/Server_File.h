// joedb 10's path of Server_File.
#include "joedb/network/server_connection.h"
