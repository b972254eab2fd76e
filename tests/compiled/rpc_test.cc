// Remote procedure calls in generated code: library.rpc.

#include <gtest/gtest.h>

#include <type_traits>

#include "joedb/network/rpc.h"
#include "library/rpc/Client.h"
#include "library/rpc/Procedures.h"
#include "library/rpc/Signatures.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace rpc_test {
namespace {

using joedb::testing::error_of;
using namespace company::library;

class Remote_Procedures : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto ada = library.new_person("Ada");
    library.new_book("Engines", ada);
    library.new_book("Numbers", library.new_person("Charles"));
    library.new_book("Weaving", ada);
  }

  Memory_Database library;
  rpc::Service service{library};
  const rpc::Procedures procedures{service};
  const joedb::testing::Temporary_Directory directory;
  joedb::rpc::Server server{joedb::Logger::none(), 0, 1, directory.file("s"), rpc::get_signatures(),
                            procedures.procedures};
  joedb::Local_Channel channel{directory.file("s")};
  rpc::Client client{channel};
};

TEST_F(Remote_Procedures, ShareTheIdsOfTheMainSchema) {
  static_assert(std::is_same_v<rpc::search::id_of_book, id_of_book>);
  static_assert(!std::is_same_v<rpc::search::id_of_found, id_of_book>);
  rpc::search::Memory_Database message;
  message.new_found(library.find_person_by_name("Ada"), id_of_book(), "");
  client.books_of(message);
  std::string titles;
  for (const auto found : message.get_found_table()) {
    titles += std::string(message.get_title(found)) + " ";
    const id_of_book book = message.get_book(found);
    EXPECT_EQ(book.is_null() ? "" : library.get_title(book), message.get_title(found));
  }
  EXPECT_EQ(titles, " Engines Weaving ");
}

TEST_F(Remote_Procedures, CanBeCalledAgainWithTheSameMessage) {
  rpc::search::Memory_Database message;
  message.new_found(library.find_person_by_name("Charles"), id_of_book(), "");
  client.books_of(message);
  EXPECT_EQ(message.get_found_table().get_size(), 2u);
  message.new_found(library.find_person_by_name("Charles"), id_of_book(), "");
  client.books_of(message);
  EXPECT_EQ(message.get_found_table().get_size(), 6u);
}

TEST_F(Remote_Procedures, CarryValuesOfLogicalTypes) {
  using namespace std::chrono_literals;
  static_assert(std::is_same_v<rpc::loans::Loan_State, Loan_State>);
  static_assert(!std::is_same_v<rpc::loans::Loan_Kind, Loan_State>);
  const std::chrono::sys_days day(std::chrono::year(2024) / 2 / 29);
  const joedb::Uuid ticket("2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77");
  rpc::loans::Memory_Database message;
  const auto known = message.new_loan(
      {.title = "Engines", .since = day, .due = day, .kind = rpc::loans::Loan_Kind::map});
  const auto added = message.new_loan({.title = "Weaving",
                                       .state = Loan_State::returned,
                                       .since = day,
                                       .fee = joedb::Decimal<2>("0.25"),
                                       .at = std::chrono::sys_seconds(5s),
                                       .ticket = ticket,
                                       .kind = rpc::loans::Loan_Kind::book});
  client.complete(message);
  EXPECT_EQ(message.get_due(known), day);
  EXPECT_EQ(message.get_kind(known), rpc::loans::Loan_Kind::map);
  EXPECT_EQ(message.get_is_long(known), std::nullopt);
  EXPECT_EQ(message.get_state(known), Loan_State::open);
  EXPECT_EQ(message.get_due(added), day + std::chrono::days(28));
  EXPECT_EQ(message.get_state(added), Loan_State::late);
  EXPECT_EQ(to_string(message.get_state(added)), "late");
  EXPECT_EQ(to_string(message.get_fee(added)), "1.75");
  EXPECT_EQ(message.get_at(added), std::chrono::sys_seconds(5s));
  EXPECT_EQ(message.get_length(added), 3h);
  EXPECT_EQ(message.get_ticket(added), ticket);
  EXPECT_EQ(message.get_kind(added), std::nullopt);
  EXPECT_EQ(message.get_is_long(added), false);
  EXPECT_EQ(message.get_notes(added), std::nullopt);
}

TEST_F(Remote_Procedures, CarryBlobs) {
  rpc::cover::Memory_Database message;
  message.set_sent(message.write_blob("picture"));
  client.measure(message);
  EXPECT_EQ(message.get_size(), 7);
  EXPECT_EQ(message.read_blob(message.get_returned()), "picturepicture");
}

TEST_F(Remote_Procedures, LeaveTheMessageAloneWhenTheyFail) {
  Memory_Database message;
  message.new_person("somebody");
  EXPECT_EQ(error_of<joedb::rpc::Error>([&] { client.fail_late(message); }), "too late");
  EXPECT_EQ(message.get_person_table().get_size(), 1u);
  EXPECT_EQ(library.get_person_table().get_size(), 2u);
}

// ---- invalid messages

// Returns the error of procedure 0 for a message with these bytes after the prolog.
std::string error_of_message(const std::vector<joedb::rpc::Procedure>& procedures,
                             std::string_view bytes) {
  return error_of([&] { procedures[0](bytes); });
}

TEST_F(Remote_Procedures, CheckAMessageBeforeTheyRun) {
  rpc::search::Memory_Database message;
  const std::size_t start = message.get_data().size();
  message.new_found(id_of_person(), id_of_book(), "title");
  message.soft_checkpoint();
  const std::string good(message.get_data().begin() + static_cast<std::ptrdiff_t>(start),
                         message.get_data().end());
  const auto& all = procedures.procedures;
  EXPECT_EQ(error_of_message(all, good), "no error");
  EXPECT_EQ(error_of_message(all, ""), "no error");

  for (std::size_t size = 1; size < good.size(); ++size) {
    const std::string error = error_of_message(all, good.substr(0, size));
    EXPECT_TRUE(error == "no error" || error.starts_with("invalid message: ")) << error;
  }
  const std::string bad[] = {std::string(1, '\0'), good + std::string(5, '\0'), "\377\377\377",
                             good + good.substr(1)};
  for (const std::string& bytes : bad)
    EXPECT_TRUE(error_of_message(all, bytes).starts_with("invalid message: "))
        << error_of_message(all, bytes);
}

TEST_F(Remote_Procedures, RefuseAMessageThatChangesTheSchema) {
  joedb::Memory_File file;
  rpc::search::Memory_Database message;
  const std::size_t start = message.get_data().size();
  file.get_data() = message.get_data();
  joedb::Writable_Database untyped(file);
  untyped.write(joedb::Create_Table{"more"});
  untyped.soft_checkpoint();
  const std::string bytes(file.get_data().begin() + static_cast<std::ptrdiff_t>(start),
                          file.get_data().end());
  EXPECT_EQ(error_of_message(procedures.procedures, bytes),
            "invalid message: the bytes of a copy must not change the schema");
}

TEST_F(Remote_Procedures, LeaveAMessageAloneThatGetsInvalidBytes) {
  rpc::search::Memory_Database message;
  message.new_found(id_of_person(), id_of_book(), "title");
  message.soft_checkpoint();
  const std::vector<char> before = message.get_data();
  EXPECT_NE(error_of([&] { message.append_from_copy("\377\377"); }), "no error");
  EXPECT_EQ(std::vector<char>(message.get_data().begin() + 41, message.get_data().end()),
            std::vector<char>(before.begin() + 41, before.end()));
  EXPECT_EQ(message.get_found_table().get_size(), 1u);
  message.new_found(id_of_person(), id_of_book(), "more");
  client.books_of(message);
  EXPECT_GE(message.get_found_table().get_size(), 2u);
}

}  // namespace
}  // namespace rpc_test
