// What the machine itself needs for the entries of a log, without a library: the same bytes in the
// file, with the same checksum, but no header, no order to keep, no failure to remember.

#include "log_entry.h"
#include "raw_file.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <isa-l/crc.h>

#include <array>
#include <memory>
#include <vector>

// ISA-L leaves the upper halves of vector registers in use. Then instructions that know only the
// lower halves, as a compiler takes them for any copy, are slow: up to 0.2 us for an entry.
#if defined(__x86_64__)
[[gnu::target("avx")]] static void clear_upper_halves() { _mm256_zeroupper(); }
static const bool has_upper_halves = __builtin_cpu_supports("avx");
#else
static void clear_upper_halves() {}
static constexpr bool has_upper_halves = false;
#endif

static std::uint32_t crc32c(unsigned char* bytes, std::size_t size) {
  const std::uint32_t crc = crc32_iscsi(bytes, static_cast<int>(size), ~0U);
  if (has_upper_halves) clear_upper_halves();
  return ~crc;
}

// An entry as it stands in a log of joedb: 24 bytes, and its own.
struct File_Entry {
  std::uint32_t crc;
  std::uint32_t previous;
  std::uint32_t length;
  std::uint32_t unsynced;
  std::int64_t sequence;
  char text[1000];
};
static_assert(sizeof(File_Entry) == 1024);

// Some entries, which are written together.
class Block {
 public:
  explicit Block(std::size_t most) : entries_(most) {}

  // Whether it is full now.
  bool add(std::int64_t number) {
    File_Entry& entry = entries_[used_++];
    const std::string_view text = source_.text(number);
    entry.previous = crc_;
    entry.length = static_cast<std::uint32_t>(text.size());
    entry.unsynced = 0;
    entry.sequence = number;
    std::memcpy(entry.text, text.data(), text.size());
    auto* const bytes = reinterpret_cast<unsigned char*>(&entry) + sizeof entry.crc;
    crc_ = entry.crc = crc32c(bytes, sizeof entry - sizeof entry.crc);
    return used_ == entries_.size();
  }
  const void* data() const { return entries_.data(); }
  std::size_t size() const { return used_ * sizeof(File_Entry); }
  void clear() { used_ = 0; }

 private:
  Log_Entry source_;
  std::vector<File_Entry> entries_;
  std::size_t used_ = 0;
  std::uint32_t crc_ = 0;
};

// Calls write(block) for each `most` entries, and for the rest.
template <class Write>
static void for_each_block(std::int64_t entries, std::size_t most, Write write) {
  Block block(most);
  for (std::int64_t i = 1; i <= entries; ++i)
    if (block.add(i) || i == entries) {
      write(block);
      block.clear();
    }
}

static constexpr std::size_t buffer_entries = (std::size_t{1} << 16) / sizeof(File_Entry);

template <std::size_t most>
static void append(std::int64_t entries, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  for_each_block(entries, most, [&](const Block& block) { out.write(block.data(), block.size()); });
}

static void append_and_sync(std::int64_t entries, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  for_each_block(entries, 1, [&](const Block& block) {
    out.write(block.data(), block.size());
    out.sync();
  });
}

template <std::size_t most>
static void append_and_datasync(std::int64_t entries, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  for_each_block(entries, most, [&](const Block& block) {
    out.write(block.data(), block.size());
    out.datasync();
  });
}

// The zeros are written first, and are in the figure.
template <std::size_t most>
static void write_to_zeros_and_datasync(std::int64_t entries, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  const std::vector<char> zeros(std::size_t{1} << 20);
  const off_t end = entries * off_t{sizeof(File_Entry)};
  for (off_t i = 0; i < end; i += static_cast<off_t>(zeros.size()))
    out.write(zeros.data(), zeros.size());
  out.datasync();
  off_t offset = 0;
  for_each_block(entries, most, [&](const Block& block) {
    out.pwrite(block.data(), block.size(), offset);
    out.datasync();
    offset += static_cast<off_t>(block.size());
  });
}

// ---- batches: the file is reset ----------------------------------------------------------------

// Where the batch before was: after the first one, the file does not grow.
template <std::size_t most>
static void overwrite_batches(std::int64_t entries, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  for_each_block(entries, most, [&](const Block& block) {
    out.pwrite(block.data(), block.size(), 0);
    out.datasync();
  });
}

// The file is cut for each batch: the simple way.
template <std::size_t most>
static void cut_and_write_batches(std::int64_t entries, const char* file) {
  Raw_File out(file, O_CREAT | O_TRUNC | O_WRONLY);
  for_each_block(entries, most, [&](const Block& block) {
    out.truncate();
    out.pwrite(block.data(), block.size(), 0);
    out.datasync();
  });
}

// ---- a model of CWal ----------------------------------------------------------------------------

// Written from a description of CWal, not from its code: length, bytes, CRC-32 of the bytes; the
// CRC byte by byte with a table; output through a stream with a buffer of BUFSIZ bytes.
static std::uint32_t bytewise_crc32(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> result{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
      result[i] = crc;
    }
    return result;
  }();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255] ^ crc >> 8;
  return ~crc;
}

static void model_of_cwal(std::int64_t entries, const char* file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file, "wb"), std::fclose);
  require(out != nullptr);
  require(std::setvbuf(out.get(), nullptr, _IOFBF, BUFSIZ) == 0);
  Log_Entry source;
  for (std::int64_t i = 1; i <= entries; ++i) {
    const std::string_view text = source.text(i);
    const std::uint64_t length = text.size();
    const std::uint32_t crc = bytewise_crc32(text);
    require(std::fwrite(&length, sizeof length, 1, out.get()) == 1 &&
            std::fwrite(text.data(), text.size(), 1, out.get()) == 1 &&
            std::fwrite(&crc, sizeof crc, 1, out.get()) == 1);
  }
  require(std::fflush(out.get()) == 0);
}

int main(int argc, char** argv) {
  constexpr Case cases[] = {
      {"append", append<buffer_entries>},
      {"append_and_write_each", append<1>},
      {"append_and_sync_each", append_and_sync},
      {"append_and_datasync_each", append_and_datasync<1>},
      {"append_and_datasync_every_10", append_and_datasync<10>},
      {"write_to_zeros_and_datasync_each", write_to_zeros_and_datasync<1>},
      {"write_to_zeros_and_datasync_every_10", write_to_zeros_and_datasync<10>},
      {"overwrite_batches_of_31", overwrite_batches<31>},
      {"overwrite_batches_of_10", overwrite_batches<10>},
      {"cut_and_write_batches_of_31", cut_and_write_batches<31>},
      {"cut_and_write_batches_of_10", cut_and_write_batches<10>},
      {"model_of_cwal", model_of_cwal},
  };
  return run_case(cases, argc, argv);
}
