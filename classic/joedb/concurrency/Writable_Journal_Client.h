// joedb 10's path of Writable_Journal_Client.
#include "joedb/replica/clients.h"
