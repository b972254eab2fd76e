#include "exchange/wide_text.h"

#include <cstdint>

#include "joedb/base/error.h"

namespace joedb {

namespace {

using namespace std::string_view_literals;

class Wide_Decoder final : public Unpacker {
 public:
  Wide_Decoder(std::size_t width, bool is_big) : width_(width), is_big_(is_big) {}

  Step step(std::string_view bytes, std::span<char> out) override {
    constexpr std::size_t longest = 4;  // a character in UTF-8
    Step done{0, 0};
    while (done.taken < bytes.size() && out.size() - done.given >= longest) {
      const auto byte = static_cast<unsigned char>(bytes[done.taken++]);
      const std::size_t place = is_big_ ? width_ - 1 - size_ : size_;
      unit_ |= std::uint32_t{byte} << (8 * place);
      if (++size_ < width_) continue;
      done.given += take(unit_, out.data() + done.given);
      unit_ = 0;
      size_ = 0;
    }
    return done;
  }

  bool is_at_end() const override { return size_ == 0 && high_ == 0; }
  void restart() override { *this = Wide_Decoder(width_, is_big_); }

 private:
  // Takes a unit of the text. Returns the number of bytes that were written.
  std::size_t take(std::uint32_t unit, char* out) {
    constexpr std::uint32_t mark = 0xfeff, first_high = 0xd800, first_low = 0xdc00, end = 0xe000;
    const bool is_first = std::exchange(is_start_, false);
    if (is_first && unit == mark) return 0;
    const bool is_low = first_low <= unit && unit < end;
    if (is_low != (high_ != 0) || (width_ == 4 && is_low)) throw Exception(lone_surrogate);
    if (first_high <= unit && unit < first_low) {
      if (width_ == 4) throw Exception(lone_surrogate);
      high_ = unit;
      return 0;
    }
    if (is_low) unit = 0x10000 + ((high_ - first_high) << 10) + (unit - first_low);
    high_ = 0;
    if (unit > 0x10ffff) throw Exception("there is no such character,");
    return write(unit, out);
  }

  static std::size_t write(std::uint32_t c, char* out) {
    if (c < 0x80) {
      *out = static_cast<char>(c);
      return 1;
    }
    const std::size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (std::size_t i = size - 1; i > 0; --i, c >>= 6)
      out[i] = static_cast<char>(0x80 | (c & 0x3f));
    *out = static_cast<char>((0xf00u >> size & 0xf0) | c);
    return size;
  }

  static constexpr const char* lone_surrogate = "half of a character is missing,";

  std::size_t width_;
  bool is_big_;
  bool is_start_ = true;
  std::uint32_t unit_ = 0;
  std::size_t size_ = 0;    // bytes in unit_
  std::uint32_t high_ = 0;  // first half of a character, whose second one must follow
};

}  // namespace

std::unique_ptr<Unpacker> new_wide_decoder_of(std::string_view begin) {
  if (begin.starts_with("\xff\xfe\0\0"sv)) return std::make_unique<Wide_Decoder>(4, false);
  if (begin.starts_with("\0\0\xfe\xff"sv)) return std::make_unique<Wide_Decoder>(4, true);
  if (begin.starts_with("\xff\xfe"sv)) return std::make_unique<Wide_Decoder>(2, false);
  if (begin.starts_with("\xfe\xff"sv)) return std::make_unique<Wide_Decoder>(2, true);
  return nullptr;
}

}  // namespace joedb
