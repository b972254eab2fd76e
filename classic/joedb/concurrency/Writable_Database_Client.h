// joedb 10's path of Writable_Database_Client.
#include "joedb/replica/clients.h"
