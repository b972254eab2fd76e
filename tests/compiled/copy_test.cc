// A file that is copied while a program writes it, front to back, as cp does.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "joedb/io/mapped_file.h"
#include "shop_1.h"
#include "support/temporary_directory.h"

namespace copy_test {
namespace {

using joedb::testing::Temporary_Directory;
using namespace shop_1;

class Copy_Of_A_Live_File : public ::testing::TestWithParam<std::size_t> {
 protected:
  // Appends rows whose labels are their numbers, and now and then a checkpoint.
  void write(Writable_Database& db) {
    for (int i = 0; i < 50; ++i) {
      const std::size_t row = db.get_item_table().get_size();
      db.new_item(std::to_string(row) + std::string(row % 100, '.'));
    }
    ++writes_;
    if (writes_ % 2 == 0) db.soft_checkpoint();
    if (writes_ % 5 == 0) db.hard_checkpoint();
    if (writes_ % 11 == 0) db.rollback();
  }

  // Copies the file in pieces to its end, and calls write() after each of the first 30 pieces.
  template <class Write>
  void copy(Write write) {
    const joedb::File in(from_, joedb::Open_Mode::read_existing);
    std::ofstream out(to_, std::ios::binary);
    std::vector<char> piece(GetParam());
    joedb::Offset at = 0;
    for (int pieces = 0;; ++pieces) {
      const std::size_t size = in.pread(piece.data(), piece.size(), at);
      if (size == 0) break;
      out.write(piece.data(), static_cast<std::streamsize>(size));
      at += static_cast<joedb::Offset>(size);
      if (pieces < 30) write();
    }
  }

  // The rows of a database are the first ones, and at least `least`.
  static void expect_rows(const Database& db, std::size_t least) {
    EXPECT_GE(db.get_item_table().get_size(), least);
    std::size_t row = 0;
    for (const id_of_item id : db.get_item_table()) {
      ASSERT_EQ(db.get_label(id), std::to_string(row) + std::string(row % 100, '.'));
      ++row;
    }
  }

  // The copy has what was checkpointed when it began, and perhaps more; and it can be written.
  void expect_copy(std::size_t least) {
    expect_rows(Readonly_Database(to_), least);
    File_Database db(to_, joedb::Open_Mode::write_existing, joedb::Recovery::overwrite);
    expect_rows(db, least);
    write(db);
    db.hard_checkpoint();
    expect_rows(Readonly_Database(to_), least + 50);
  }

  void copy_while_writing(Writable_Database& db) {
    for (int round = 0; round < 3; ++round) {
      write(db);
      const std::size_t rows = Readonly_Database(from_).get_item_table().get_size();
      copy([&] { write(db); });
      expect_copy(rows);
    }
  }

  Temporary_Directory directory_;
  const std::string from_ = directory_.file("shop.joedb");
  const std::string to_ = directory_.file("copy.joedb");
  int writes_ = 0;
};

TEST_P(Copy_Of_A_Live_File, HasItsFirstCheckpointAtLeast) {
  File_Database db(from_);
  copy_while_writing(db);
}

TEST_P(Copy_Of_A_Live_File, MayBeOneThatIsMapped) {
  joedb::Mapped_File file(from_, joedb::Open_Mode::write_existing_or_create_new);
  Writable_Database db(file);
  copy_while_writing(db);
}

TEST_P(Copy_Of_A_Live_File, MayBeOneThatIsShared) {
  File_Client client(from_);
  const auto transaction = [&] {
    try {
      client.transaction([&](Writable_Database& db) {
        write(db);
        if (writes_ % 3 == 0) throw joedb::Exception("rolled back");
      });
    } catch (const joedb::Exception&) {
    }
  };
  for (int round = 0; round < 3; ++round) {
    transaction();
    const std::size_t rows = Readonly_Database(from_).get_item_table().get_size();
    copy(transaction);
    expect_copy(rows);
  }
}

INSTANTIATE_TEST_SUITE_P(Pieces, Copy_Of_A_Live_File, ::testing::Values(64, 4096, 65536));

}  // namespace
}  // namespace copy_test
