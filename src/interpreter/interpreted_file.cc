#include "interpreter/interpreted_file.h"

#include "interpreter/interpreter.h"
#include "joedb/format/header.h"

namespace joedb::inline v1 {

static Open_Mode alone(Open_Mode mode) {
  return mode == Open_Mode::shared_write ? Open_Mode::write_existing_or_create_new : mode;
}

Interpreted_File::Interpreted_File(const std::string& name, Open_Mode mode)
    : Abstract_File(name, alone(mode)), text_(name, alone(mode)), writer_(new_text_, this) {
  text_size_ = text_.get_size();
  std::string text(static_cast<std::size_t>(text_size_), 0);
  text_.read_exactly(text.data(), text.size(), 0);
  if (!text.empty() && !text.ends_with('\n'))
    throw Exception("Interpreted_File: last line of joedbi file must be empty");
  run(text);
  follower_ = std::make_unique<Readonly_Journal>(journal_);
  follower_->replay(writer_);
  writer_.flush();
  new_text_.str("");
}

void Interpreted_File::run(const std::string& text) {
  Writable_Database database(journal_);
  try {
    if (!run_text(text, database) && !is_readonly())
      throw Exception(get_name() + ": nothing written behind the command quit would be read again");
    database.soft_checkpoint();
  } catch (...) {
    database.rollback();
    throw;
  }
}

void Interpreted_File::pwrite(const char* data, std::size_t size, Offset offset) {
  journal_.pwrite(data, size, offset);
  if (offset < static_cast<Offset>(checkpoint_words_size)) append_new_entries();
}

void Interpreted_File::append_new_entries() {
  if (follower_->pull() == 0) return;
  follower_->replay(writer_);
  writer_.end(follower_->get_checkpoint());
  writer_.flush();
  const std::string text = new_text_.str();
  new_text_.str("");
  text_.pwrite(text.data(), text.size(), text_size_);
  text_size_ += static_cast<Offset>(text.size());
}

}  // namespace joedb::inline v1
