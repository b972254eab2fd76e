#include "kernel/io/zstd_unpacker.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <new>

namespace joedb::inline v1 {

namespace {

struct Free_Stream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
};

std::size_t checked(std::size_t result) {
  if (!ZSTD_isError(result)) return result;
  switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_frameParameter_windowTooLarge:
      throw Exception("it needs more than 128 MiB of memory to unpack (zstd --long or --ultra),");
    case ZSTD_error_prefix_unknown:
      throw Exception("this is not zstd,");
    case ZSTD_error_checksum_wrong:
      throw Exception("the bytes are not those that were compressed,");
    default:
      throw Exception(std::string(ZSTD_getErrorName(result)) + ',');
  }
}

class Zstd_Unpacker final : public Unpacker {
 public:
  Zstd_Unpacker() : stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
    constexpr int max_window_bits = 27;
    checked(ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, max_window_bits));
  }

  Step step(std::string_view packed, std::span<char> out) override {
    ZSTD_inBuffer from{packed.data(), packed.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    is_at_end_ = checked(ZSTD_decompressStream(stream_.get(), &to, &from)) == 0;
    return {from.pos, to.pos};
  }

  bool is_at_end() const override { return is_at_end_; }

  void restart() override {
    checked(ZSTD_DCtx_reset(stream_.get(), ZSTD_reset_session_only));
    is_at_end_ = false;
  }

 private:
  const std::unique_ptr<ZSTD_DStream, Free_Stream> stream_;
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<Unpacker> new_zstd_unpacker() { return std::make_unique<Zstd_Unpacker>(); }

void write_zstd(const Abstract_File& file, Abstract_File& archive,
                const std::function<void(Offset)>& report) {
  const std::unique_ptr<ZSTD_CStream, Free_Stream> stream(ZSTD_createCStream());
  if (!stream) throw std::bad_alloc();
  const Offset size = file.get_size();
  checked(ZSTD_CCtx_setParameter(stream.get(), ZSTD_c_checksumFlag, 1));
  checked(ZSTD_CCtx_setPledgedSrcSize(stream.get(), static_cast<unsigned long long>(size)));
  std::vector<char> in(ZSTD_CStreamInSize());
  std::vector<char> out(ZSTD_CStreamOutSize());
  Offset written = 0;
  for (Offset done = 0;;) {
    ZSTD_inBuffer from{in.data(), file.pread(in.data(), in.size(), done), 0};
    done += static_cast<Offset>(from.size);
    report(done);
    const bool is_last = from.size == 0;
    for (bool is_done = false; !is_done;) {
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const std::size_t left = checked(
          ZSTD_compressStream2(stream.get(), &to, &from, is_last ? ZSTD_e_end : ZSTD_e_continue));
      archive.pwrite(out.data(), to.pos, written);
      written += static_cast<Offset>(to.pos);
      is_done = is_last ? left == 0 : from.pos == from.size;
    }
    if (is_last) return;
  }
}

}  // namespace joedb::inline v1
