// Blobs in generated code: read whole, read in pieces, stored in another file.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "everything.h"
#include "support/temporary_directory.h"

namespace blob_test {
namespace {

using joedb::testing::Temporary_Directory;
using namespace test::everything;

// Returns byte i of a large blob.
char byte_at(std::int64_t i) { return static_cast<char>(i * 31 + i / 251); }

struct Source {
  void operator()(char* data, std::size_t size) {
    if (position >= fails_at) throw joedb::Exception("the source has dried up");
    for (std::size_t i = 0; i < size; ++i) data[i] = byte_at(position++);
  }
  std::int64_t position = 0;
  std::int64_t fails_at = std::numeric_limits<std::int64_t>::max();
};

TEST(Blob, IsReadWithALimit) {
  Memory_Database db;
  const auto item = db.new_item();
  db.set_picture(item, db.write_blob("0123456789"));
  EXPECT_EQ(db.read_blob(db.get_picture(item)), "0123456789");
  EXPECT_EQ(db.read_blob(db.get_picture(item), 4), "0123");
  EXPECT_EQ(db.read_blob(db.get_picture(item), 400), "0123456789");
  EXPECT_EQ(db.read_blob(db.get_picture(item), 0), "");
}

TEST(Blob, StreamsThroughASmallBuffer) {
  const Temporary_Directory directory;
  constexpr std::int64_t size = 3'000'001;
  joedb::Blob blob;
  {
    File_Database db(directory.file("db.joedb"));
    blob = db.write_blob(size, Source());
    db.set_picture(db.new_item(), blob);
    db.soft_checkpoint();
  }
  EXPECT_EQ(blob.get_size(), size);
  joedb::File file(directory.file("db.joedb"), joedb::Open_Mode::read_existing);
  const Readonly_Database db(file);
  joedb::Blob_Reader reader(file, db.get_picture(id_of_item(0)));
  char buffer[1000];
  std::int64_t position = 0;
  while (const std::size_t n = reader.read(buffer, sizeof buffer))
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(buffer[i], byte_at(position++));
  EXPECT_EQ(position, size);
  EXPECT_EQ(reader.remaining(), 0);
}

TEST(Blob, WhoseSourceFailsLeavesNoTrace) {
  for (const std::int64_t fails_at : {0, 100'000, 2'900'000}) {
    const Temporary_Directory directory;
    File_Database db(directory.file("db.joedb"));
    db.new_item();
    db.flush();
    const auto position = db.get_journal().get_position();
    EXPECT_THROW(db.write_blob(3'000'000, Source{0, fails_at}), joedb::Exception);
    EXPECT_EQ(db.get_journal().get_position(), position);
    db.set_text(id_of_item(0), "after");
    db.soft_checkpoint();
    EXPECT_EQ(db.get_journal().get_file().get_size(), db.get_journal().get_checkpoint());
    const Readonly_Database again(directory.file("db.joedb"));
    EXPECT_EQ(again.get_text(id_of_item(0)), "after");
  }
  Memory_Database db;
  EXPECT_THROW(db.write_blob(-1, Source()), joedb::Exception);
  EXPECT_EQ(db.write_blob(0, Source()).get_size(), 0);
}

TEST(Blob, CanBeCopiedWithinADatabaseInPieces) {
  Memory_Database db;
  const joedb::Blob blob = db.write_blob("hello world, this is the first blob");
  std::int64_t done = 0;
  const joedb::Blob copy = db.write_blob(blob.get_size(), [&](char* data, std::size_t size) {
    const std::string all = db.read_blob(blob);
    std::copy_n(all.data() + done, size, data);
    done += static_cast<std::int64_t>(size);
  });
  EXPECT_EQ(db.read_blob(copy), "hello world, this is the first blob");
}

TEST(Blob, InPiecesIsNotMixedWithOtherWriting) {
  Memory_Database db;
  const auto item = db.new_item();
  const auto refused = [&](auto write) {
    EXPECT_THROW(db.write_blob(10, [&](char*, std::size_t) { write(); }), joedb::Exception);
  };
  refused([&] { db.set_text(item, "text"); });
  refused([&] { db.write_comment("comment"); });
  refused([&] { db.flush(); });
  refused([&] { db.soft_checkpoint(); });
  refused([&] { db.hard_checkpoint(); });
  refused([&] { db.rollback(); });
  refused([&] { db.write_blob("another"); });
  db.set_text(item, "after");
  db.soft_checkpoint();
  joedb::Readonly_Memory_File file(db.get_data());
  EXPECT_EQ(Readonly_Database(file).get_text(item), "after");
}

TEST(Blob, BeyondTheFileIsAnError) {
  Memory_Database db;
  db.soft_checkpoint();
  EXPECT_THROW(db.read_blob(joedb::Blob(100'000, 10)), joedb::Exception);
  joedb::Readonly_Memory_File file(db.get_data());
  joedb::Blob_Reader reader(file, joedb::Blob(100'000, 10));
  char buffer[10];
  EXPECT_THROW(reader.read(buffer, sizeof buffer), joedb::Corruption_Error);
}

// The database has the positions of the blobs; another journal has their bytes.
TEST(Blob, CanStandInAnotherFile) {
  joedb::Memory_File pictures;
  Memory_Database db;
  const auto item = db.new_item();
  {
    joedb::Writable_Journal_Client client(pictures);
    db.set_picture(item, client.transaction([](joedb::Writable_Journal& journal) {
      return journal.append_blob("a picture");
    }));
  }
  EXPECT_EQ(pictures.read_blob(db.get_picture(item)), "a picture");
  db.soft_checkpoint();
}

}  // namespace
}  // namespace blob_test
