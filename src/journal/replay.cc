#include "joedb/journal/replay.h"

#include <algorithm>
#include <cstring>

namespace joedb::inline v1 {

static constexpr std::size_t block_size = std::size_t{1} << 18;

// A wrong length can ask for more than the file has: memory is taken as the bytes arrive.
void File_Decoder_Input::refill(std::size_t size) {
  const Offset start = position();
  std::size_t have = window().size();
  if (have > 0) std::memmove(buffer_.data(), window().data(), have);
  const auto wanted =
      std::max(size, static_cast<std::size_t>(std::min<Offset>(remaining(), block_size)));
  while (have < size) {
    const std::size_t target = std::min(wanted, std::max(block_size, 2 * have));
    if (buffer_.size() < target) buffer_.resize(target);
    const std::size_t n =
        file_.pread(buffer_.data() + have, target - have, start + static_cast<Offset>(have));
    have += n;
    set_window(buffer_.data(), have, start + static_cast<Offset>(have));
    if (n == 0)
      fail("Trying to read past the end of file: it ends at offset " +
           std::to_string(position() + static_cast<Offset>(have)));
  }
}

void File_Decoder_Input::read_at(char* out, std::size_t size, Offset offset) {
  file_.read_exactly(out, size, offset);
}

void Replay::resume(const Replay_Place& place) {
  context_ = place.context;
  transaction_end_ = place.transaction_end;
  is_broken_ = false;
  start_at(place.position);
}

}  // namespace joedb::inline v1
