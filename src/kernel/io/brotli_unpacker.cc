#include "kernel/io/brotli_unpacker.h"

#include <brotli/decode.h>

#include <new>

namespace joedb::inline v1 {

namespace {

struct Free_State {
  void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
};

class Brotli_Unpacker final : public Unpacker {
 public:
  Brotli_Unpacker() { restart(); }

  Step step(std::string_view packed, std::span<char> out) override {
    if (is_at_end()) {
      if (!packed.empty()) throw Exception("something follows its end,");
      return {0, 0};
    }
    const auto* from = reinterpret_cast<const std::uint8_t*>(packed.data());
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    std::size_t packed_left = packed.size();
    std::size_t room = out.size();
    result_ = BrotliDecoderDecompressStream(state_.get(), &packed_left, &from, &room, &to, nullptr);
    if (result_ == BROTLI_DECODER_RESULT_ERROR) fail();
    return {packed.size() - packed_left, out.size() - room};
  }

  bool is_at_end() const override { return result_ == BROTLI_DECODER_RESULT_SUCCESS; }

  void restart() override {
    state_.reset(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr));
    if (!state_) throw std::bad_alloc();
    result_ = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
  }

 private:
  [[noreturn]] void fail() const {
    const BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(state_.get());
    throw Exception("this is not brotli (" + std::string(BrotliDecoderErrorString(code)) + "),");
  }

  std::unique_ptr<BrotliDecoderState, Free_State> state_;
  BrotliDecoderResult result_ = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
};

}  // namespace

std::unique_ptr<Unpacker> new_brotli_unpacker() { return std::make_unique<Brotli_Unpacker>(); }

}  // namespace joedb::inline v1
