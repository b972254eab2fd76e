#include "rewrite/blob_copies.h"

#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "rewrite/pack.h"
#include "rewrite/pack_in_parts.h"

namespace joedb {
namespace {

constexpr Table_Id table{1};
constexpr Field_Id name{1}, image{2};

// Passes the blobs to `blobs`, and everything else on.
template <class Next>
struct With_Blobs {
  template <class Entry>
  void operator()(const Entry& entry) {
    if constexpr (!std::is_same_v<Entry, Blob_Data>)
      next(entry);
    else if (blobs != nullptr)
      blobs->add(entry.blob);
  }
  Next& next;
  Blob_Copies* blobs;
};

class Blob_Copies_Test : public ::testing::Test {
 protected:
  Blob_Copies_Test() {
    Writable_Database db(file);
    db.write(Create_Table{"photo"});
    db.write(Add_Field{table, "name", {Type_Code::string, {}}});
    db.write(Add_Field{table, "image", {Type_Code::blob, {}}});
    for (index_t id = 0; id < 5; ++id) {
      const std::string text = "image " + std::to_string(id);
      const Blob blob = db.write_blob(text);
      db.write(Insert{table, Record_Id(id)});
      db.write(Update<std::string_view>{table, Record_Id(id), name, text});
      db.write(Update<Blob>{table, Record_Id(id), image, blob});
    }
    db.write(Delete{table, Record_Id(1)});
    // A part of a blob, and no blob at all.
    const Blob last = column(db.get_database()).get(4);
    db.write(Update<Blob>{table, Record_Id(4), image,
                          Blob(last.get_position() + 1, last.get_size() - 1)});
    db.write(Update<Blob>{table, Record_Id(3), image, Blob()});
    db.hard_checkpoint();
  }

  static const Column<Blob>& column(const Database& database) {
    return static_cast<const Column<Blob>&>(
        *database.table(table).fields()[image.value() - std::size_t{1}].column);
  }

  // Returns the blobs of the records; "-" for null.
  static std::string blobs_in(Memory_File& from) {
    Readonly_Journal journal(from);
    Database database;
    load(database, journal);
    std::string text;
    for_each_run(database.table(table).records(), [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) {
        const Blob blob = column(database).get(id);
        text += (blob.is_null() ? "-" : from.read_blob(blob)) + ' ';
      }
    });
    return text;
  }

  static void expect_packed(const Memory_File& original, Memory_File& packed,
                            const Blob_Copies& blobs) {
    EXPECT_EQ(blobs_in(packed), "image 0 image 2 - mage 4 ");
    EXPECT_EQ(blobs.unused().count, 2) << "of the deleted record, and the one that was replaced";
    EXPECT_EQ(blobs.unused().bytes, 14);
    EXPECT_LT(packed.get_size(), original.get_size());
  }

  Memory_File file;
};

TEST_F(Blob_Copies_Test, ArePackedWithTheRecordsThatReferToThem) {
  Blob_Copies blobs;
  Database database;
  Readonly_Journal journal(file);
  journal.replay(With_Blobs<Database>{database, &blobs});
  Memory_File packed;
  {
    Writable_Journal destination(packed);
    pack(database, file, blobs, destination);
    destination.soft_checkpoint();
  }
  expect_packed(file, packed, blobs);
}

TEST_F(Blob_Copies_Test, ArePackedInPartsOfAnySize) {
  for (const std::size_t memory : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20}) {
    Blob_Copies blobs;
    Blob_Copies* found = &blobs;
    Part_Packer packer(memory, Part_Packer::Loose_References::keep);
    packer.add("original", [&](Value_Loader& loader) {
      Readonly_Journal journal(file);
      journal.replay(With_Blobs<Value_Loader>{loader, std::exchange(found, nullptr)});
    });
    Memory_File packed;
    {
      Writable_Journal destination(packed);
      packer.write(file, blobs, destination);
      destination.soft_checkpoint();
    }
    expect_packed(file, packed, blobs);
  }
}

}  // namespace
}  // namespace joedb
