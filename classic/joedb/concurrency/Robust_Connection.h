// joedb 10's path of Robust_Connection.
#include "joedb/network/server_connection.h"
