// joedb 10's path of Robust_Connection.
#include "joedb/network/robust_connection.h"
