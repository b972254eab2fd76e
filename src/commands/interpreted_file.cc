#include "joedb/commands/interpreted_file.h"

#include <filesystem>
#include <sstream>

#include "commands/interpreter.h"
#include "joedb/format/header.h"
#include "kernel/io/new_file.h"
#include "text/entry_text.h"

namespace joedb::inline v1 {

struct Interpreted_File::Follower {
  explicit Follower(Memory_File& file, const Abstract_File& blobs)
      : journal(file), writer(text, &blobs) {}

  // Returns the text of the entries up to the checkpoint that earlier calls have not returned.
  std::string take_text() {
    journal.replay(writer);
    writer.end(journal.get_checkpoint());
    writer.flush();
    std::string result = text.str();
    text.str("");
    return result;
  }

  Readonly_Journal journal;
  std::ostringstream text;
  Command_Writer writer;
};

static Open_Mode alone(Open_Mode mode) {
  return mode == Open_Mode::shared_write ? Open_Mode::write_existing_or_create_new : mode;
}

// Returns null for a file that does not exist, and that the mode would create.
static std::unique_ptr<File> open_text(const std::string& name, Open_Mode mode) {
  const bool may_be_missing =
      mode == Open_Mode::write_existing_or_create_new || mode == Open_Mode::write_lock;
  std::error_code ignored;
  if (!may_be_missing || std::filesystem::exists(name, ignored))
    return std::make_unique<File>(name, mode);
  require_folder_for_new_file(name);
  return nullptr;
}

Interpreted_File::Interpreted_File(const std::string& name, Open_Mode mode)
    : Abstract_File(name, alone(mode)), text_(open_text(name, alone(mode))) {
  if (text_) text_size_ = text_->get_size();
  std::string text(static_cast<std::size_t>(text_size_), 0);
  if (text_) text_->read_exactly(text.data(), text.size(), 0);
  // A torn write can leave an incomplete last line.
  if (!text.empty() && !text.ends_with('\n'))
    throw Exception("Interpreted_File: last line of joedbi file must be empty");
  run(text);
  follower_ = std::make_unique<Follower>(journal_, *this);
  follower_->take_text();
}

Interpreted_File::~Interpreted_File() = default;

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
  if (follower_->journal.pull() == 0) return;
  const std::string text = follower_->take_text();
  if (!text_) text_ = std::make_unique<File>(file_to_create(get_name()), Open_Mode::create_new);
  text_->pwrite(text.data(), text.size(), text_size_);
  text_size_ += static_cast<Offset>(text.size());
}

}  // namespace joedb::inline v1
