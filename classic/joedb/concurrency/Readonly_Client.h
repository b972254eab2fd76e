// joedb 10's path of Readonly_Client.
#include "joedb/replica/clients.h"
