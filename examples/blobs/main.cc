// Bytes that stay in a file and are not kept in memory. A thumbnail is in the file of the database,
// a picture in a file of its own, so that the database stays small.

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "album/writable.h"

// In pieces, for what is too large for memory. If it throws, nothing has been written.
static joedb::Blob write_picture(joedb::Writable_Journal_Client& pictures, std::istream& in,
                                 std::int64_t size) {
  return pictures.transaction([&](joedb::Writable_Journal& journal) {
    return journal.append_blob(size, [&](char* data, std::size_t n) {
      if (!in.read(data, static_cast<std::streamsize>(n)))
        throw std::runtime_error("the picture is shorter than expected");
    });
  });
}

static std::uint64_t add_up(const joedb::Abstract_File& file, joedb::Blob blob) {
  joedb::Blob_Reader reader(file, blob);
  char buffer[4096];
  std::uint64_t sum = 0;
  while (const std::size_t n = reader.read(buffer, sizeof buffer))
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<unsigned char>(buffer[i]);
  return sum;
}

static void run(const char* name, std::int64_t size) {
  joedb::File pictures_file("pictures.joedb", joedb::Open_Mode::shared_write);
  joedb::Writable_Journal_Client pictures(pictures_file);
  album::File_Database db("album.joedb");

  // First the picture, then the row that leads to it: if the program dies in between, there is a
  // picture that nobody knows, but never a row without its picture.
  std::ifstream in(name, std::ios::binary);
  const joedb::Blob picture = write_picture(pictures, in, size);
  const joedb::Blob thumbnail = db.write_blob("a few bytes");
  const auto photo = db.new_photo(name, thumbnail, picture);
  db.soft_checkpoint();

  std::cout << "thumbnail: " << db.read_blob(db.get_thumbnail(photo)) << '\n';
  std::cout << "picture: " << db.get_picture(photo).get_size() << " bytes, which add up to "
            << add_up(pictures_file, db.get_picture(photo)) << '\n';
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: blobs FILE SIZE\n";
    return 2;
  }
  try {
    run(argv[1], std::atoll(argv[2]));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
