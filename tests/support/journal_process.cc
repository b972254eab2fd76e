#include "support/journal_process.h"

#include "joedb/io/memory_file.h"

namespace joedb::testing {

namespace {

struct Any_Entry_Appender {
  Writable_Journal& journal;

  void operator()(const Encodable auto& entry) const { journal.append(entry); }
  void operator()(const Blob_Bytes& entry) const { journal.append_blob(entry.bytes); }
  template <Field_Value T>
  void operator()(const Vector_Update<T>& entry) const {
    journal.append_vector<T>(
        entry.table, entry.record, entry.field, static_cast<std::int64_t>(entry.values.size()),
        [&](std::int64_t i) -> T { return entry.values[static_cast<std::size_t>(i)]; });
  }
};

}  // namespace

void append_any(Writable_Journal& journal, const Any_Entry& entry) {
  std::visit(Any_Entry_Appender{journal}, entry.value());
}

std::string words_in(std::string_view file, Recovery recovery) {
  Readonly_Memory_File memory(file);
  Readonly_Journal journal(memory, recovery);
  struct : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Comment& e) { text.append(e.text).append(" "); }
    std::string text;
  } handler;
  journal.replay(handler);
  return handler.text;
}

Offset hard_checkpoint_in(std::string_view file) {
  Readonly_Memory_File memory(file);
  return Readonly_Journal(memory, Recovery::hard).get_checkpoint();
}

}  // namespace joedb::testing
