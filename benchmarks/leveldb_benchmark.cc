#include <leveldb/db.h>
#include <leveldb/write_batch.h>

namespace store = leveldb;

#include "lsm_benchmark.h"
