#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

namespace store = rocksdb;

#include "lsm_benchmark.h"
