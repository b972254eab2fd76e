// joedb 10's path of rpc::Server.
#include "joedb/network/rpc.h"
