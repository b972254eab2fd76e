// A program that writes to a file shared with other writers: mixed_writer KIND FILE NAME...
//
// Each NAME becomes a row of the table town, in a transaction or with a checkpoint of its own.

#include <iostream>
#include <string_view>

#include "joedb/base/main_wrapper.h"
#include "marked.h"
#include "stamped.h"
#include "unmarked.h"

namespace {

template <class Client>
void write_as_client(int argc, char** argv, bool prints_reason) {
  Client client(argv[2]);
  client.set_author("Cid");
  for (int i = 3; i < argc; ++i) {
    const auto write = [&](auto& db) { db.new_town(argv[i]); };
    if (prints_reason)
      client.transaction(std::string("why ") + argv[i], write);
    else
      client.transaction(write);
  }
}

template <class Database>
void write_alone(int argc, char** argv) {
  Database db(argv[2]);
  for (int i = 3; i < argc; ++i) {
    db.new_town(argv[i]);
    db.soft_checkpoint();
  }
}

int run(int argc, char** argv) {
  if (argc < 3) throw joedb::Exception("usage: mixed_writer KIND FILE NAME...");
  const std::string_view kind = argv[1];
  if (kind == "marked_client")
    write_as_client<marked::File_Client>(argc, argv, false);
  else if (kind == "stamped_client")
    write_as_client<stamped::File_Client>(argc, argv, false);
  else if (kind == "unmarked_client")
    write_as_client<unmarked::File_Client>(argc, argv, false);
  else if (kind == "why_client")
    write_as_client<marked::File_Client>(argc, argv, true);
  else if (kind == "marked_alone")
    write_alone<marked::File_Database>(argc, argv);
  else if (kind == "stamped_alone")
    write_alone<stamped::File_Database>(argc, argv);
  else if (kind == "unmarked_alone")
    write_alone<unmarked::File_Database>(argc, argv);
  else
    throw joedb::Exception("no such kind");
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return joedb::main_exception_catcher(run, argc, argv); }
