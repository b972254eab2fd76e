#include "text/text_buffer.h"

namespace joedb::inline v1 {

Text_Buffer::~Text_Buffer() {
  try {
    flush();
  } catch (...) {  // the stream is set to throw
  }
}

void Text_Buffer::flush() {
  out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
}

}  // namespace joedb::inline v1
