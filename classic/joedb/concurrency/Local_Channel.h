// joedb 10's path of Local_Channel.
#include "joedb/network/channel.h"
