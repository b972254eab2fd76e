// joedb 10's path of Channel.
#include "joedb/network/channel.h"
