#include "exchange/input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "exchange/row_source.h"
#include "exchange/text_check.h"
#include "exchange/wide_text.h"
#include "joedb/base/error.h"
#include "kernel/base/byte_order_mark.h"

namespace joedb {

static constexpr std::size_t block_size = std::size_t{1} << 18;
static constexpr const char* standard_input = "standard input";

Input::Input(const std::string& name, std::size_t max_row, Find_Unpacker find_unpacker)
    : name_(name == "-" ? standard_input : name),
      max_row_(max_row),
      checks_text_(true),
      find_unpacker_(std::move(find_unpacker)) {
  file_.reset(name == "-" ? stdin : std::fopen(name.c_str(), "rb"));
  if (!file_) throw_io_error("opening", name, -1, errno);
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // unbuffered, because read() reads blocks
  if (name != "-" && std::fseek(file_.get(), 0, SEEK_END) == 0) {
    size_ = std::max<Offset>(std::ftell(file_.get()), 0);
    can_seek_ = std::fseek(file_.get(), 0, SEEK_SET) == 0;
  }
  remembers_ = !can_seek_;
}

Input Input::of_text(const std::string& name, std::string text, std::size_t max_row) {
  Input input(max_row);
  input.name_ = name;
  input.size_ = static_cast<Offset>(text.size());
  input.remembered_ = std::move(text);
  input.can_seek_ = true;
  return input;
}

// Reads up to `size` bytes of the content, in UTF-8. Returns 0 at its end.
std::size_t Input::read(char* data, std::size_t size) {
  if (!wide_.unpacker) {
    const std::size_t n = read_unpacked(data, size);
    if (read_ > 0 || !(wide_.unpacker = new_wide_decoder_of({data, n}))) return n;
    wide_.bytes.assign(data, n);
  }
  return unpack(
      wide_, data, size, [this](char* more, std::size_t room) { return read_unpacked(more, room); },
      "this text, which begins like UTF-16 or UTF-32, cannot be read: ");
}

std::size_t Input::read_unpacked(char* data, std::size_t size) {
  if (!archive_.unpacker) {
    const std::size_t n = read_file(data, size);
    if (read_ > 0 || !find_unpacker_ || !(archive_.unpacker = find_unpacker_({data, n}))) return n;
    archive_.bytes.assign(data, n);
  }
  return unpack(
      archive_, data, size, [this](char* more, std::size_t room) { return read_file(more, room); },
      "this archive cannot be unpacked: ");
}

// Reads by read_more what `stage` unpacks. `problem` begins the text of an error.
template <class F>
std::size_t Input::unpack(Stage& stage, char* data, std::size_t size, F read_more,
                          const char* problem) {
  std::size_t given = 0;
  try {
    while (given == 0) {
      if (stage.start == stage.bytes.size()) {
        stage.bytes.resize(block_size);
        stage.bytes.resize(read_more(stage.bytes.data(), block_size));
        stage.start = 0;
      }
      const std::string_view rest = std::string_view(stage.bytes).substr(stage.start);
      if (rest.empty() && stage.unpacker->is_at_end()) return 0;
      const Unpacker::Step step = stage.unpacker->step(rest, {data, size});
      stage.start += step.taken;
      stage.taken += static_cast<Offset>(step.taken);
      given = step.given;
      if (rest.empty() && given == 0) throw Exception("it ends in the middle,");
    }
  } catch (const Io_Error&) {
    throw;
  } catch (const Data_Error&) {  // of the stage before
    throw;
  } catch (const Exception& error) {
    throw Data_Error(name_ + ": " + problem + error.what() + " at byte " +
                     std::to_string(stage.taken));
  }
  return given;
}

// Reads up to `size` bytes of the file.
std::size_t Input::read_file(char* data, std::size_t size) {
  if (!remembers_ && replayed_ < remembered_.size()) {
    const std::size_t n = std::min(size, remembered_.size() - replayed_);
    std::memcpy(data, remembered_.data() + replayed_, n);
    replayed_ += n;
    return n;
  }
  if (!file_) return 0;
  std::size_t n = 0;
  while (true) {
    n += std::fread(data + n, 1, size - n, file_.get());
    if (n == size || std::ferror(file_.get()) == 0) break;
    if (errno != EINTR) throw_io_error("reading", name_, -1, errno);
    std::clearerr(file_.get());
    check_interrupt_();
  }
  if (remembers_) remembered_.append(data, n);
  return n;
}

void Input::require_text(std::string_view begin) const {
  const bool has_name = name_ != standard_input && !archive_.unpacker;
  const std::string reason = non_text_reason(begin, has_name ? name_ : "-");
  if (!reason.empty()) throw Data_Error(name_ + ": " + reason);
}

// Programs of the old Macintosh wrote such texts, and some still do.
static bool ends_lines_with_carriage_returns(std::string_view begin) {
  const std::size_t first = begin.find('\r');
  if (first == begin.npos || begin.find('\n') != begin.npos) return false;
  const bool is_in_quotes =
      std::count(begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(first), '"') % 2 != 0;
  return !is_in_quotes && first + 1 < block_size;
}

// Makes room after the lines to keep, and reads more bytes. Returns false at the end.
bool Input::fill() {
  check_interrupt_();
  if (end_ - start_ >= max_row_)
    throw Data_Error(name_ + ":" + std::to_string(line_) +
                     ": the row that begins here has more than " + std::to_string(max_row_) +
                     " bytes: is a quote not closed? --max-row allows more");
  if (end_ - start_ + block_size > capacity_) {
    const std::size_t capacity = std::max(2 * block_size, 2 * (end_ - start_));
    std::unique_ptr<char[]> data(new char[capacity]);
    if (end_ > start_) std::memcpy(data.get(), data_.get() + start_, end_ - start_);
    data_ = std::move(data);
    capacity_ = capacity;
  } else if (start_ > 0) {
    std::memmove(data_.get(), data_.get() + start_, end_ - start_);
  }
  next_ -= start_;
  end_ -= start_;
  start_ = 0;
  const std::size_t n = read(data_.get() + end_, block_size);
  if (read_ == 0) {
    if (checks_text_) require_text({data_.get() + end_, n});
    has_carriage_returns_ = ends_lines_with_carriage_returns({data_.get() + end_, n});
  }
  if (has_carriage_returns_) std::replace(data_.get() + end_, data_.get() + end_ + n, '\r', '\n');
  end_ += n;
  read_ += static_cast<Offset>(n);
  return n > 0;
}

std::optional<std::string_view> Input::next_line() {
  if (start_ == next_) line_ = next_number_;
  std::size_t searched = next_;
  for (;;) {
    const void* const found =
        searched < end_ ? std::memchr(data_.get() + searched, '\n', end_ - searched) : nullptr;
    std::size_t line_end = end_;
    if (found != nullptr) {
      line_end = static_cast<std::size_t>(static_cast<const char*>(found) - data_.get()) + 1;
    } else {
      searched = end_ - start_;
      if (fill()) continue;
      if (next_ == end_) return std::nullopt;
      line_end = end_;
    }
    std::string_view line(data_.get() + next_, line_end - next_);
    if (next_number_ == 1 && line.starts_with(byte_order_mark)) {
      line.remove_prefix(byte_order_mark.size());
      start_ = next_ + byte_order_mark.size();
    }
    next_ = line_end;
    ++next_number_;
    return line;
  }
}

void Input::rewind() {
  if (can_seek_ && file_) {
    std::fseek(file_.get(), 0, SEEK_SET);
    std::clearerr(file_.get());
  }
  remembers_ = false;
  replayed_ = 0;
  archive_ = {};
  wide_ = {};
  read_ = 0;
  start_ = next_ = end_ = 0;
  line_ = next_number_ = 1;
}

std::string place_in(const Input& input, std::size_t offset) {
  const std::string_view before = input.lines().substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 if there is none: npos + 1 is 0
  const auto columns =
      std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start), before.end(),
                    [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return input.name() + ":" + std::to_string(input.line() + lines) + ":" +
         std::to_string(columns + 1) + ": ";
}

}  // namespace joedb
