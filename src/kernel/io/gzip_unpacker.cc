#include "kernel/io/gzip_unpacker.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace joedb::inline v1 {

namespace {

uInt limited(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

class Gzip_Unpacker final : public Unpacker {
 public:
  Gzip_Unpacker() {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip_Unpacker() override { inflateEnd(&stream_); }
  Gzip_Unpacker(const Gzip_Unpacker&) = delete;
  Gzip_Unpacker& operator=(const Gzip_Unpacker&) = delete;

  Step step(std::string_view packed, std::span<char> out) override {
    std::size_t skipped = 0;
    if (is_at_end_) {
      skipped = std::min(packed.find_first_not_of('\0'), packed.size());
      if (skipped == packed.size()) return {skipped, 0};
      restart();
    }
    packed.remove_prefix(skipped);
    // zlib does not change what it reads.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
    stream_.avail_in = limited(packed.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = limited(out.size());
    const uInt in = stream_.avail_in, room = stream_.avail_out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      throw Exception(std::string(stream_.msg != nullptr ? stream_.msg : "this is not gzip") + ',');
    is_at_end_ = result == Z_STREAM_END;
    return {skipped + (in - stream_.avail_in), room - stream_.avail_out};
  }

  bool is_at_end() const override { return is_at_end_; }

  void restart() override {
    inflateReset(&stream_);
    is_at_end_ = false;
  }

 private:
  z_stream stream_{};
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<Unpacker> new_gzip_unpacker() { return std::make_unique<Gzip_Unpacker>(); }

}  // namespace joedb::inline v1
