// joedb 10's path of Readonly_Database_Client.
#include "joedb/replica/clients.h"
