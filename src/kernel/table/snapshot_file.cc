#include "kernel/table/snapshot_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "joedb/base/types.h"
#include "joedb/format/header.h"
#include "kernel/base/interrupts.h"
#include "kernel/format/hash.h"
#include "kernel/table/snapshot_header.h"

namespace joedb::inline v1 {

namespace {

constexpr Offset page = 4096;
constexpr std::size_t block_size = std::size_t{1} << 20;
constexpr Offset writeback_step = Offset{8} << 20;

// ---- header -------------------------------------------------------------------------------------

using namespace snapshot_header;
using Header_Words = std::array<std::uint64_t, word_count>;

constexpr std::uint64_t magic = 0x74'6f'68'73'70'61'6e'73;  // "snapshot"

std::string_view bytes_of(const std::uint64_t* words, std::size_t count) {
  return {reinterpret_cast<const char*>(words), count * sizeof *words};
}

std::uint64_t header_hash(const Header_Words& words) {
  return hash_of(bytes_of(words.data(), header_hash_word), layout);
}

// ---- directory ----------------------------------------------------------------------------------

enum class Tag : char { group = 'g', number = 'n', text = 't', section = 's' };

// Iterates over the items of a directory, or of one of its groups.
class Items {
 public:
  explicit Items(std::string_view bytes) : bytes_(bytes) {}
  bool is_at_end() const { return bytes_.empty(); }
  void take_tag(Tag tag) {
    if (take(1)[0] != static_cast<char>(tag)) fail();
  }
  std::uint64_t take_word() { return load<std::uint64_t>(take(sizeof(std::uint64_t)).data()); }
  std::string_view take_bytes() { return take(take_word()); }

 private:
  [[noreturn]] static void fail() {
    throw Corruption_Error("its directory is not that of this version", 0);
  }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) fail();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view bytes_;
};

class Group_Reader final : public Section_Reader {
 public:
  Group_Reader(const Abstract_File& file, Offset sections_end, std::string_view items)
      : file_(file), sections_end_(static_cast<std::uint64_t>(sections_end)), items_(items) {}

  std::int64_t number() override {
    items_.take_tag(Tag::number);
    return static_cast<std::int64_t>(items_.take_word());
  }
  std::string_view text() override {
    items_.take_tag(Tag::text);
    return items_.take_bytes();
  }
  void section(Zeroed_Memory& memory, std::size_t size, std::size_t reserved) override {
    items_.take_tag(Tag::section);
    const std::uint64_t offset = items_.take_word();
    const std::uint64_t stored = items_.take_word();
    if (stored != size || offset % page != 0 || offset > sections_end_ ||
        size > sections_end_ - offset)
      throw Corruption_Error("a section has not the size that it should have", 0);
    if (size > 0) memory.begin_with(file_, static_cast<Offset>(offset), size, reserved);
  }

 private:
  const Abstract_File& file_;
  const std::uint64_t sections_end_;
  Items items_;
};

}  // namespace

std::uint64_t sample_journal(const Abstract_File& journal, Offset position) {
  constexpr Offset pieces = 8;
  constexpr Offset piece_size = 4096;
  const Offset size = std::min(piece_size, position - journal_start);
  const Offset last = position - size;
  std::uint64_t hash = static_cast<std::uint64_t>(position);
  std::array<char, piece_size> bytes;
  for (Offset i = 0; i < pieces; ++i) {
    // Divides before it multiplies, because (last - journal_start) * i may overflow.
    const Offset start = journal_start + (last - journal_start) / (pieces - 1) * i;
    const auto n = static_cast<std::size_t>(size);
    journal.read_exactly(bytes.data(), n, i == pieces - 1 ? last : start);
    hash = hash_of({bytes.data(), n}, hash);
  }
  return hash;
}

Journal_Hash hash_journal(const Abstract_File& journal, Offset position, const Journal_Hash& known,
                          Offset known_position,
                          const std::function<void(Offset, Offset)>& progress) {
  constexpr auto size = static_cast<Offset>(block_size);
  Offset start = std::max(known_position / size * size, journal_start);
  Journal_Hash hash{known.blocks, known.blocks};
  std::string bytes;
  while (start < position) {
    const Offset end = std::min(position, (start / size + 1) * size);
    bytes.resize(static_cast<std::size_t>(end - start));
    look_for_interrupt();
    journal.read_exactly(bytes.data(), bytes.size(), start);
    hash.all = hash_of(bytes, hash.blocks);
    if (end % size == 0) hash.blocks = hash.all;
    start = end;
    progress(start, position);
  }
  return hash;
}

// ---- writing ------------------------------------------------------------------------------------

Snapshot_Writer::Snapshot_Writer(Abstract_File& file)
    : file_(file), block_(block_size), written_(page), started_(page) {}

void Snapshot_Writer::add_word(std::uint64_t word) {
  char bytes[sizeof word];
  store(bytes, word);
  directory_.append(bytes, sizeof bytes);
}

static void put_word(std::string& directory, std::size_t at, std::uint64_t word) {
  store(directory.data() + at, word);
}

void Snapshot_Writer::begin_group(std::string_view name) {
  end_section();
  if (group_start_ > 0)
    put_word(directory_, group_start_ - sizeof(std::uint64_t), directory_.size() - group_start_);
  directory_ += static_cast<char>(Tag::group);
  add_word(name.size());
  directory_ += name;
  add_word(0);  // placeholder for the size
  group_start_ = directory_.size();
}

void Snapshot_Writer::number(std::int64_t value) {
  end_section();
  directory_ += static_cast<char>(Tag::number);
  add_word(static_cast<std::uint64_t>(value));
}

void Snapshot_Writer::text(std::string_view value) {
  end_section();
  directory_ += static_cast<char>(Tag::text);
  add_word(value.size());
  directory_ += value;
}

void Snapshot_Writer::begin_section() {
  end_section();
  const Offset end = written_ + static_cast<Offset>(block_size_);
  const char zeros[page] = {};
  append(zeros, static_cast<std::size_t>((page - end % page) % page));
  section_offset_ = written_ + static_cast<Offset>(block_size_);
  directory_ += static_cast<char>(Tag::section);
  add_word(static_cast<std::uint64_t>(section_offset_));
  section_start_ = directory_.size();
  add_word(0);  // placeholder for the size
}

void Snapshot_Writer::end_section() {
  if (section_start_ == 0) return;
  const Offset end = written_ + static_cast<Offset>(block_size_);
  put_word(directory_, section_start_, static_cast<std::uint64_t>(end - section_offset_));
  section_start_ = 0;
}

void Snapshot_Writer::append(const void* bytes, std::size_t size) {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const std::size_t n = std::min(size, block_.size() - block_size_);
    std::memcpy(block_.data() + block_size_, from, n);
    block_size_ += n;
    from += n;
    size -= n;
    if (block_size_ == block_.size()) write_block();
  }
}

// Every writeback_step bytes, writeback is started; otherwise the final sync would have to write
// everything.
void Snapshot_Writer::write_block() {
  if (block_size_ == 0) return;
  look_for_interrupt();
  hashes_.push_back(hash_of({block_.data(), block_size_}, static_cast<std::uint64_t>(written_)));
  file_.pwrite(block_.data(), block_size_, written_);
  written_ += static_cast<Offset>(block_size_);
  block_size_ = 0;
  if (written_ - started_ < writeback_step) return;
  file_.start_writeback(started_, written_);
  started_ = written_;
}

void Snapshot_Writer::finish(const Replay_Place& place, const Journal_Marks& marks) {
  end_section();
  if (group_start_ > 0)
    put_word(directory_, group_start_ - sizeof(std::uint64_t), directory_.size() - group_start_);
  write_block();
  const std::string_view hashes = bytes_of(hashes_.data(), hashes_.size());
  const Offset directory_offset = written_ + static_cast<Offset>(hashes.size());
  const Offset file_size = directory_offset + static_cast<Offset>(directory_.size());
  Header_Words words{};
  words[magic_word] = magic;
  words[layout_word] = layout;
  words[position_word] = static_cast<std::uint64_t>(place.position);
  words[table_word] = place.context.table.value();
  words[record_word] = static_cast<std::uint64_t>(place.context.record.value());
  words[field_word] = place.context.field.value();
  words[transaction_end_word] = static_cast<std::uint64_t>(place.transaction_end);
  words[covered_word] = static_cast<std::uint64_t>(place.covered);
  words[sample_word] = marks.sample;
  words[journal_hash_word] = marks.hash.all;
  words[journal_blocks_word] = marks.hash.blocks;
  words[identity_word] = marks.identity.file;
  words[change_word] = marks.identity.change;
  words[sections_end_word] = static_cast<std::uint64_t>(written_);
  words[hash_of_hashes_word] = hash_of(hashes, layout);
  words[directory_offset_word] = static_cast<std::uint64_t>(directory_offset);
  words[directory_size_word] = directory_.size();
  words[directory_hash_word] = hash_of(directory_, layout);
  words[file_size_word] = static_cast<std::uint64_t>(file_size);
  words[header_hash_word] = header_hash(words);
  std::array<char, page> header{};
  std::memcpy(header.data(), words.data(), sizeof words);
  file_.pwrite(hashes.data(), hashes.size(), written_);
  file_.pwrite(directory_.data(), directory_.size(), directory_offset);
  file_.pwrite(header.data(), header.size(), 0);
}

// ---- reading ------------------------------------------------------------------------------------

Snapshot_File::Snapshot_File(std::unique_ptr<Abstract_File> file) : file_(std::move(file)) {
  const auto require = [](bool is_good, const char* what) {
    if (!is_good) throw Corruption_Error(what, 0);
  };
  Header_Words words{};
  const std::size_t size = file_->pread(reinterpret_cast<char*>(words.data()), sizeof words, 0);
  require(size == sizeof words && words[magic_word] == magic, "it is not a snapshot");
  require(words[layout_word] == layout,
          "it was written by another version, or on a machine of another byte order");
  require(words[header_hash_word] == header_hash(words), "its header is damaged");
  const auto offset = [&](Word word) { return static_cast<Offset>(words[word]); };
  require(offset(file_size_word) == file_->get_size(), "it is incomplete");
  constexpr const char* header_mismatch = "its header does not fit";
  sections_end_ = offset(sections_end_word);
  require(sections_end_ >= page && sections_end_ <= offset(file_size_word), header_mismatch);
  const Offset blocks = (sections_end_ - page + static_cast<Offset>(block_size) - 1) /
                        static_cast<Offset>(block_size);
  require(offset(directory_offset_word) ==
                  sections_end_ + blocks * static_cast<Offset>(sizeof(std::uint64_t)) &&
              offset(directory_offset_word) <= offset(file_size_word) &&
              offset(directory_size_word) == offset(file_size_word) - offset(directory_offset_word),
          header_mismatch);
  constexpr Offset max_records = Offset{1} << 61;
  require(offset(record_word) >= -1 && offset(record_word) <= max_records, header_mismatch);
  place_ = {
      offset(position_word),
      {Table_Id(static_cast<std::uint16_t>(words[table_word])), Record_Id(offset(record_word)),
       Field_Id(static_cast<std::uint16_t>(words[field_word]))},
      offset(transaction_end_word),
      offset(covered_word)};
  require(place_.transaction_end >= journal_start && place_.transaction_end <= place_.position &&
              place_.covered >= 0 && place_.covered <= place_.position,
          header_mismatch);
  marks_ = {words[sample_word],
            {words[journal_hash_word], words[journal_blocks_word]},
            {words[identity_word], words[change_word]}};
  hash_of_hashes_ = words[hash_of_hashes_word];
  read_directory(offset(directory_offset_word), offset(directory_size_word),
                 words[directory_hash_word]);
}

void Snapshot_File::read_directory(Offset offset, Offset size, std::uint64_t hash) {
  directory_.resize(static_cast<std::size_t>(size));
  file_->read_exactly(directory_.data(), directory_.size(), offset);
  if (hash_of(directory_, layout) != hash)
    throw Corruption_Error("its directory is damaged", offset);
  Items items(directory_);
  while (!items.is_at_end()) {
    items.take_tag(Tag::group);
    const std::string_view name = items.take_bytes();
    groups_.push_back({name, items.take_bytes()});
  }
}

bool Snapshot_File::fits(const Abstract_File& journal) const {
  const Offset size = journal.get_size();
  if (place_.position < journal_start) return false;
  if (size != Abstract_File::unknown_size && size < place_.position) return false;
  if (sample_journal(journal, place_.position) != marks_.sample) return false;
  if (is_unchanged(journal)) return true;
  const bool is_long = place_.position > compared_at_opening;
  return (is_long && is_of_file(journal)) || fits_wholly(journal);
}

bool Snapshot_File::is_of_file(const Abstract_File& journal) const {
  const std::optional<File_Identity> identity = identity_of(journal);
  return !identity || marks_.identity.file == 0 || identity->file == marks_.identity.file;
}

bool Snapshot_File::fits_wholly(const Abstract_File& journal, const Progress& progress) const {
  return hash_journal(journal, place_.position, {}, journal_start, progress).all == marks_.hash.all;
}

bool Snapshot_File::is_unchanged(const Abstract_File& journal) const {
  const std::optional<File_Identity> identity = identity_of(journal);
  return identity && identity->file == marks_.identity.file &&
         identity->change == marks_.identity.change;
}

std::unique_ptr<Section_Reader> Snapshot_File::open(std::string_view group) const {
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.name == group; });
  if (found == groups_.end()) return nullptr;
  return std::make_unique<Group_Reader>(*file_, sections_end_, found->items);
}

Offset Snapshot_File::size_of_sections() const { return sections_end_ - page; }

void Snapshot_File::verify(const Progress& progress) const {
  const Offset all = size_of_sections();
  std::vector<std::uint64_t> hashes(
      static_cast<std::size_t>(all / static_cast<Offset>(block_size)) +
      (all % static_cast<Offset>(block_size) != 0));
  file_->read_exactly(reinterpret_cast<char*>(hashes.data()), hashes.size() * sizeof hashes[0],
                      sections_end_);
  if (hash_of(bytes_of(hashes.data(), hashes.size()), layout) != hash_of_hashes_)
    throw Corruption_Error("its table of hashes is damaged", sections_end_);
  std::vector<char> block(block_size);
  Offset offset = page;
  for (const std::uint64_t hash : hashes) {
    const auto size =
        static_cast<std::size_t>(std::min(static_cast<Offset>(block_size), sections_end_ - offset));
    look_for_interrupt();
    file_->read_exactly(block.data(), size, offset);
    if (hash_of({block.data(), size}, static_cast<std::uint64_t>(offset)) != hash)
      throw Corruption_Error("a block is damaged", offset);
    offset += static_cast<Offset>(size);
    progress(offset - page, all);
  }
}

}  // namespace joedb::inline v1
