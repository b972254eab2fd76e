// joedb 10's path of Connector.
#include "joedb/network/channel.h"
