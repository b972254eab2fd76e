// joedb 10's path of rpc::Client.
#include "joedb/network/rpc.h"
