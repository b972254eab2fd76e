#include "index_reader.h"

#include <algorithm>

#include "text.h"

static constexpr std::size_t block_size = std::size_t{1} << 18;

// ---- paragraphs ---------------------------------------------------------------------------------

const Paragraph::Field* Paragraph::find(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::string_view Paragraph::value(std::string_view name) const {
  const Field* const field = find(name);
  return field ? field->value : std::string_view();
}

std::string_view Paragraph::required_value(std::string_view name) const {
  const Field* const field = find(name);
  if (field == nullptr) throw Index_Error(line, "this paragraph has no field " + std::string(name));
  if (field->value.empty())
    throw Index_Error(field->line, "the field " + std::string(name) + " is empty");
  return field->value;
}

// ---- reading ------------------------------------------------------------------------------------

const Paragraph* Index_Reader::next() {
  if (!skip_empty_lines()) return nullptr;
  paragraph_.fields.clear();
  paragraph_.line = line_;
  for (std::string_view text = take_paragraph(); !text.empty(); ++line_) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.front() == ' ' || line.front() == '\t') {
      if (paragraph_.fields.empty())
        throw Index_Error(line_, "a line that starts with a space must follow a field");
      std::string_view& value = paragraph_.fields.back().value;
      const char* const end = line.data() + line.size();
      value = trim({value.data(), static_cast<std::size_t>(end - value.data())});
    } else {
      const std::size_t colon = line.find(':');
      if (colon == line.npos || colon == 0)
        throw Index_Error(
            line_, "expected 'FIELD: VALUE', found '" + std::string(line.substr(0, 60)) + "'");
      paragraph_.fields.push_back({line.substr(0, colon), trim(line.substr(colon + 1)), line_});
    }
  }
  return &paragraph_;
}

// False at the end of the index.
bool Index_Reader::skip_empty_lines() {
  for (;;) {
    while (start_ < buffer_.size() && buffer_[start_] == '\n') {
      ++start_;
      ++line_;
    }
    if (start_ < buffer_.size()) return true;
    if (!read_more()) return false;
  }
}

// The lines up to the next empty one. Leaves start_ behind the end of the last of them.
std::string_view Index_Reader::take_paragraph() {
  std::size_t end = buffer_.find("\n\n", start_);
  while (end == buffer_.npos) {
    const std::size_t searched = buffer_.size() - start_;
    end = read_more() ? buffer_.find("\n\n", searched - 1) : buffer_.size();
  }
  const std::string_view text(buffer_.data() + start_, end - start_);
  start_ = std::min(end + 1, buffer_.size());
  return text;
}

// Moves what is not used yet to the front of the buffer, so start_ becomes 0, and reads a block
// behind it. False at the end of the index.
bool Index_Reader::read_more() {
  buffer_.erase(0, start_);
  start_ = 0;
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + block_size);
  in_.read(buffer_.data() + kept, block_size);
  const std::streamsize count = in_.gcount();
  buffer_.resize(kept + static_cast<std::size_t>(count));
  bytes_read_ += count;
  return count > 0;
}
