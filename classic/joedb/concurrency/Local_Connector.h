// joedb 10's path of Local_Connector.
#include "joedb/network/channel.h"
