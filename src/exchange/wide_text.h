#ifndef JOEDB_SRC_EXCHANGE_WIDE_TEXT_H
#define JOEDB_SRC_EXCHANGE_WIDE_TEXT_H

#include <memory>
#include <string_view>

#include "kernel/io/unpacked_file.h"

namespace joedb {

// Returns a decoder to UTF-8 for a text that begins with the byte order mark of UTF-16 or UTF-32,
// which "Unicode text" of spreadsheets has; null for other texts. The decoder throws Exception if
// the text is invalid. It takes all bytes that it is given, unless `out` is full.
std::unique_ptr<Unpacker> new_wide_decoder_of(std::string_view begin);

}  // namespace joedb

#endif
