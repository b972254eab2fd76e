"""Errors that the crash laboratory must find: scripts/mutants.py plants them."""
from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    old: str  # stands in the file exactly once
    new: str


JOURNAL = 'src/journal/writable_journal.cc'
BUFFER = 'src/journal/append_buffer.cc'
READER = 'src/journal/checkpoint_reader.cc'
WRITER = 'src/journal/checkpoint_writer.cc'
RECOVERY = 'src/journal/journal_recovery.cc'
SYNCS = 'src/journal/sync_group.cc'
CHECKPOINTS = 'src/journal/checkpoints.cc'

MAPPED = 'include/joedb/io/mapped_file.h'
NAMED = 'include/joedb/io/named_file.h'
SEAL = 'src/format/seal.cc'
INTEGRITY = 'src/journal/integrity.cc'
LOG = 'src/wal/writer.cc'
SERVER = 'src/server/server_core.cc'
SERVED = 'src/server/served_journal.cc'
ROBUST = 'src/network/robust_connection.cc'
CONNECTION = 'src/network/server_connection.cc'
CLIENT = 'src/replica/client.cc'
CLUSTER = 'src/cluster/log_connection.cc'
CLUSTER_READER = 'src/cluster/log_reader.cc'
RECORD = 'src/cluster/record.cc'

MUTANTS = [
    # Two syncs.
    Mutant('first sync of a hard checkpoint left out', WRITER,
           '  rewrite_unproven_entries(position);\n  out_.sync();\n', '  rewrite_unproven_entries(position);\n'),
    Mutant('last sync left out', SYNCS, '  try {\n    out_.datasync();\n', '  try {\n'),
    Mutant('both copies written before the first sync', WRITER,
           '  out_.sync();\n  synced_hard_checkpoint_ = header_.hard_checkpoint();\n'
           '  durable_end_ = position;\n  write_slot(position, position);\n',
           '  write_slot(position, position);\n  out_.sync();\n'
           '  synced_hard_checkpoint_ = header_.hard_checkpoint();\n  durable_end_ = position;\n'),
    Mutant('the copy that holds the soft word written first', WRITER,
           'words[first] < words[first + 1]', 'words[first] > words[first + 1]'),
    Mutant('a hard checkpoint written over the one before', WRITER,
           '  const int slot = header_.checkpoints().next_slot();\n'
           '  const auto first = 2 * static_cast<std::size_t>(slot);\n  assert(',
           '  const int slot = header_.checkpoints().hard_index;\n'
           '  const auto first = 2 * static_cast<std::size_t>(slot);\n  assert('),
    Mutant('one copy of a hard checkpoint written', WRITER,
           '    out_.store_words(std::array{copy_0, copy_1}, checkpoint_word_offset(slot, 0));',
           '    write_word(slot, 0, copy_0);'),
    Mutant('a new hard checkpoint claimed for the old slot', WRITER, '  next.hard_index ^= 1;\n', ''),
    Mutant('the hard slot of others taken for synced', WRITER,
           '  rewrite_hard_slot();\n  out_.datasync();\n', '  rewrite_hard_slot();\n'),
    # What a failed sync of another process has lost.
    Mutant('entries of others are not written again', WRITER,
           '  rewrite(std::max(durable_end_, words_end), std::min(end, written_from_));\n',
           '  static_cast<void>(words_end);\n'),
    Mutant('the hard checkpoint of others is not written again', WRITER,
           '  if (has_words && own_hard_checkpoint_ != hard) rewrite_words();\n', '  static_cast<void>(has_words);\n'),
    # Names.
    Mutant('the directory of a new file is not synced', NAMED, '    if (!has_new_name_) return;\n', '    return;\n'),
    Mutant('a failed sync of the directory is no failure', NAMED, '    sync_directory();\n    has',
           '    try {\n      sync_directory();\n    } catch (...) {\n    }\n    has'),
    # Seals.
    Mutant('a seal over one byte too few', WRITER,
           'has_all ? make_seal(entries, position)', 'has_all ? make_seal(entries.substr(1), position)'),
    Mutant('a seal that is made of other bytes', SEAL,
           'hash_of(body, static_cast<std::uint64_t>(position))', 'hash_of({}, static_cast<std::uint64_t>(position))'),
    Mutant('a seal over bytes behind a checkpoint that is not synced', WRITER,
           'has_seals_ && is_header_proven() && is_hard_durable() &&', 'has_seals_ && is_header_proven() &&'),
    Mutant('a seal is not compared', READER,
           '        seal_of(position - size, position) == words[slot + 1]) {', '        true) {'),
    Mutant('a seal is never believed', READER, 'size > 0 && position >= hard', 'size < 0 && position >= hard'),
    Mutant('a seal beyond the end of the file is believed', READER,
           '(file_size == Abstract_File::unknown_size || position <= file_size) &&\n        seal_of',
           'size > 0 && position > file_size &&\n        0 * seal_of'),
    Mutant('the position takes the place of the seal before the sync', JOURNAL,
           '  syncs_.begin({get_position(), is_sealed});\n',
           '  if (is_sealed) {\n'
           '    const std::int64_t word = get_position();\n'
           '    out_.store_words(std::span(&word, 1), checkpoint_word_offset(header_.checkpoints().next_slot(), 1));\n'
           '  }\n'
           '  syncs_.begin({get_position(), is_sealed});\n'),
    Mutant('the position takes the place of the seal in the other slot', WRITER,
           'write_word(header_.checkpoints().hard_index, 1, header_.hard_checkpoint());',
           'write_word(header_.checkpoints().next_slot(), 1, header_.hard_checkpoint());'),
    Mutant('a seal that is found gives way to the wrong copy', WRITER,
           '    write_word(slot, 1, hard);', '    write_word(slot, 0, 41);'),
    Mutant('a failed sync is no failure', SYNCS,
           '  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));\n', '  error_ = nullptr;\n'),
    Mutant('a failed sync is tried again', 'src/io/fail_stop_file.cc',
           '  guard([&] { file_.datasync(); });',
           '  guard([&] {\n    try {\n      file_.datasync();\n    } catch (const Exception&) {\n'
           '      file_.datasync();\n    }\n  });'),
    Mutant('what waits is acknowledged before the sync', JOURNAL,
           '  if (!checkpoints_.is_durable(position)) hard_checkpoint();',
           '  if (!checkpoints_.is_durable(position)) soft_checkpoint();'),
    Mutant('a soft checkpoint is written where a hard one is being made', WRITER,
           '  write_word(next.next_slot(), next.soft_index, -position);',
           '  write_word(next.hard_index, next.soft_index, -position);'),
    # Soft words.
    Mutant('memory claims a soft checkpoint first', JOURNAL,
           '  prepare_checkpoint();\n  flush();\n  assert(buffer_.flushed() == get_position());  // invariant 3\n'
           '  checkpoints_.write_soft',
           '  prepare_checkpoint();\n'
           '  Checkpoints early = header_.checkpoints();\n  early.checkpoint = get_position();\n'
           '  header_.set(early);\n'
           '  flush();\n  checkpoints_.write_soft'),
    Mutant('memory claims a hard checkpoint first', JOURNAL,
           '  if (get_hard_checkpoint() >= get_position()) return sync_hard_checkpoint();\n',
           '  if (get_hard_checkpoint() >= get_position()) return sync_hard_checkpoint();\n'
           '  Checkpoints early = header_.checkpoints();\n  early.checkpoint = get_position();\n'
           '  header_.set(early);\n'),
    Mutant('soft word written before the entries', JOURNAL,
           '  flush();\n  assert(buffer_.flushed() == get_position());  // invariant 3\n'
           '  checkpoints_.write_soft(get_position());\n',
           '  checkpoints_.write_soft(get_position());\n  flush();\n'),
    Mutant('soft word believed beyond the end', CHECKPOINTS,
           ' && (!file_size || -word <= *file_size)', ' && (file_size || !file_size)'),
    Mutant('one copy of a hard checkpoint is enough', CHECKPOINTS,
           'words[first] == words[first + 1] && ', ''),
    Mutant('the smaller of two soft words believed', CHECKPOINTS,
           'if (-word >= checkpoint && ', 'if ((checkpoint == 41 || -word <= checkpoint) && '),
    Mutant('hard recovery believes soft checkpoints', READER,
           'if (recovery == Recovery::hard) checkpoints_.checkpoint = hard_checkpoint();', ';'),
    Mutant('words beyond the end not invalidated', RECOVERY,
           '    checkpoints_.create_hard_slot();\n    checkpoints_.invalidate_words_beyond(checkpoint);\n',
           '    checkpoints_.create_hard_slot();\n'),
    Mutant('these invalidated without a sync', WRITER, '  if (found) out_.datasync();\n',
           '  static_cast<void>(found);\n'),
    Mutant('the newest soft word invalidated first', WRITER, 'return words[a] > words[b]',
           'return words[a] < words[b]'),
    # Tails.
    Mutant('opened to overwrite, the tail not cut', RECOVERY,
           '    if (size > checkpoint) drop_tail(size);\n', ''),
    Mutant('a tail is kept without its last byte', RECOVERY,
           '    file_.copy_end_to(*tail, start);\n',
           '    file_.copy_to(*tail, start, file_size - start - 1);\n'),
    Mutant('a header without a hard checkpoint stays so', RECOVERY, '    checkpoints_.create_hard_slot();\n', ''),
    Mutant('tail of a dead writer not cut', RECOVERY,
           '  is_finished_ = is_finished_ && !header_.had_seal() && size <= header_.checkpoint();\n',
           '  static_cast<void>(size);\n'),
    Mutant('a transaction does not read the checkpoints', JOURNAL,
           '    recovery_.reopen(checkpoints_.update());\n', '    recovery_.reopen(file_.get_size());\n'),
    Mutant('rollback does not cut', JOURNAL,
           'buffer_.truncate(get_checkpoint());\n    else\n', ';\n    else\n'),
    Mutant('a hard checkpoint of others is written again without the lock', JOURNAL,
           'const Tail_Lock tail(*this);\n  checkpoints_.sync_hard();', 'checkpoints_.sync_hard();'),
    Mutant('a rollback forgets the integrity entries of others', JOURNAL,
           '  buffer_.restart_at(get_checkpoint());\n  is_ready_ = false;\n  rewind();\n',
           '  buffer_.restart_at(get_checkpoint());\n  integrity_.rollback();\n'
           '  is_ready_ = false;\n  rewind();\n'),
    Mutant('rollback keeps the buffer', BUFFER,
           '  flushed_ = sent_ = position;\n  used_ = 0;\n', '  flushed_ = sent_ = position;\n'),
    Mutant('zeros are written over entries', BUFFER,
           'preallocator_.reserve(end, end)', 'preallocator_.reserve(std::max(Offset{41}, flushed_ - 3), end)'),
    # Integrity entries.
    Mutant('integrity entries are not compared', INTEGRITY, 'hash(entry.start, end) == entry.hash;',
           '(hash(entry.start, end) == entry.hash || entry.hash != 0);'),
    Mutant('integrity entries are not required', READER,
           '    if (hard < checkpoint() && hard > journal_start && reader.entry_before(hard))\n',
           '    if (hard < 0)\n'),
    Mutant('a writer does not go on with integrity entries', JOURNAL,
           '  if (is_covered()) integrity_.enable();\n  integrity_.keep();\n  replay_',
           '  integrity_.keep();\n  replay_'),
    Mutant('an integrity entry stands behind what was asked for', 'src/journal/integrity_writer.cc',
           '  header_.set_covered(buffer_.position());\n', '  header_.set_covered(buffer_.position() + 1);\n'),
    Mutant('dropped tails keep their integrity entries', RECOVERY,
           '  erase(out_, header_.checkpoint(), file_size);\n', ''),
    # Mapped files.
    Mutant('a map where the disk has no room', MAPPED, '      grow_to(new_end);\n', ''),
    Mutant('a rollback leaves its bytes in the map', MAPPED,
           '      this->store(zeros.data(), zeros.size(), size);\n', ''),
    Mutant('a map that goes on where the file was cut off', MAPPED,
           '    unmap();\n    if (allocated_ > size)', '    if (allocated_ > size)'),
    # Failures, and other files.
    Mutant('writing goes on after a failure', 'src/io/fail_stop_file.cc', '  has_failed_ = true;\n', ''),
    Mutant('a file is preallocated after a failure', 'src/io/preallocator.cc',
           '  guard_.require_no_failure();\n  const Offset new_end', '  const Offset new_end'),
    Mutant('a push makes soft what was to be hard', 'src/replica/connection.cc',
           '  writer_->checkpoint(level);\n',
           '  writer_->checkpoint(Checkpoint_Level::soft);\n  static_cast<void>(level);\n'),

    # Write-ahead logs.
    Mutant('log: entries of a new epoch before its header is durable', LOG,
           '    if (!is_header_durable_) sync_header();  // invariant 1\n', ''),
    Mutant('log: no sync', LOG, '    file_.datasync();\n    durable_ = next_.sequence - 1;\n',
           '    durable_ = next_.sequence - 1;\n'),
    Mutant('log: what was found is not synced', LOG, '    file_.datasync();\n    durable_ = found_.last_sequence();\n',
           '    durable_ = found_.last_sequence();\n'),
    Mutant('log: a new header over the one in force', LOG, '    slot_ = 1 - slot_;\n', ''),
    Mutant('log: a new header before the one before is durable', LOG,
           '    if (!is_header_durable_) sync_header();\n    slot_ =', '    slot_ ='),
    Mutant('log: no marker', LOG, '    needs_marker_ = true;\n', ''),
    Mutant('log: the place of the next entry not cleared', LOG,
           '    clear_tail(file_, header_, next_, found_.later_offset > 0);\n', ''),
    Mutant('log: the place of the next entry cleared, but not synced', 'src/wal/recover.cc',
           '  if (!is_clear) file.datasync();\n', ''),
    Mutant('log: the epoch not in the checksum', 'src/wal/format.cc',
           'store(store(bytes.data(), header.log_id), header.epoch);',
           'store(store(bytes.data(), header.log_id), std::uint64_t{0});'),
    Mutant('log: any good entry follows', 'src/wal/reader.cc',
           '(s.previous && header.previous != *s.previous)', 'false'),
    Mutant('log: a new header torn for something else', LOG,
           '    file_.write_zeros(static_cast<Offset>(magic.size()), log_start);\n    file_.datasync();\n', ''),
    Mutant('log: a file that was there grows before it has a name', LOG,
           '    if (was_there) file_.datasync();\n', '    static_cast<void>(was_there);\n'),
    Mutant('log: the header pages of the next epoch get no blocks', LOG,
           '    file_.write_zeros(static_cast<Offset>(magic.size()), log_start);\n',
           '    file_.write_zeros(log_start - 8, log_start);\n'),
    Mutant('log: a full disk ends writing where only zeros have no room', 'src/io/preallocator.cc',
           '    file_.write_zeros(', '    const_cast<Fail_Stop_File&>(guard_).write_zeros('),
    Mutant('log: no mark at closing', LOG, '    write_mark();\n', ''),
    Mutant('log: a mark says more than is durable', LOG,
           'unsynced = next_.sequence - 1 - durable_;', 'unsynced = 0 * durable_;'),
    Mutant('log: good entries behind a bad one are not saved', LOG,
           '    if (found_.later_entries > 0) found_.saved = save_later_entries(file, found_);\n', ''),
    Mutant('log: what a failed sync has left is not written again', LOG,
           '    file.copy_to(file_, found_.durable_offset, next_.offset - found_.durable_offset);\n', ''),
    Mutant('log: the end of the durable part is one entry too far', 'src/wal/recover.cc',
           '  return std::prev(after)->offset;\n', '  return next_.offset;\n'),
    Mutant('log: the header that a failed sync has left is not written again', LOG,
           '      write_header(file_, header_, slot_);\n      clear_torn', '      clear_torn'),
    Mutant('log: the next header may complete a torn one', LOG,
           '    is_header_durable_ = !clear_torn_header(file_, 1 - slot_);\n', '    is_header_durable_ = true;\n'),
    Mutant('log: cleared before the header is durable', LOG,
           '    if (format() == Format::checked && next_.offset == log_start) sync_header();\n', ''),
    Mutant('log: called back before the sync', 'src/wal/async_writer.cc',
           '      sync();\n      return nullptr;\n', '      return nullptr;\n'),
    Mutant('copies: one is enough', 'src/wal/copies.cc', '  if (used() >= least()) return;\n',
           '  if (used() >= 1) return;\n'),
    Mutant('copies: not repaired', 'src/wal/copies.cc',
           '      if (repair.to == copy.index)\n', '      if (false)\n'),
    Mutant('copies: a new one may miss the header', 'src/wal/copies.cc',
           'return is_new_ ? files_.size() : needed_;', 'return needed_;'),
    Mutant('copies: one fewer than needed is enough', 'src/wal/copy_queues.cc',
           '      if (count_done(operation) < needed) perform_all(copy);\n',
           '      if (count_done(operation) + 1 < needed) perform_all(copy);\n'),
    Mutant('copies: written is taken for synced', 'src/wal/copy_queues.cc',
           'return (operation.is_sync() ? synced : written) >= operation.number;',
           'return written + (operation.is_sync() ? 1 : 0) >= operation.number;'),
    Mutant('copies: a late copy loses what waits for it', 'src/wal/copy_queues.cc',
           '    copy.queue.push_back(operation);\n',
           '    if (copy.queue.size() < 2) copy.queue.push_back(operation);\n'),
    Mutant('copies: without a header while it is repaired', 'src/wal/copies.cc',
           '      file.datasync();\n      write_header(file, best_->header, best_->slot);\n      file.datasync();\n'
           '      const Offset other = (1 - best_->slot) * slot_size;\n',
           '      const Offset other = (1 - best_->slot) * slot_size;\n'
           '      for (const Offset half : {other, other + copy_offset})\n'
           '        file.write_zeros(half, half + slot_size);\n      file.datasync();\n'
           '      write_header(file, best_->header, best_->slot);\n'),
    Mutant('copies: good entries behind a bad one are not saved', 'src/wal/copies.cc',
           'save_later_entries(file, copy.later));', 'std::string());'),
    Mutant('segments: the next one begins before this one is durable', 'src/wal/segments.cc',
           '      current_->sync();\n      const std::uint64_t first', '      const std::uint64_t first'),
    Mutant('segments: what is released is not noted', 'src/wal/segments.cc',
           '    current_->set_oldest(oldest_);\n', ''),
    Mutant('segments: what is released may be lost', 'src/wal/segments.cc',
           '    current_->sync();\n    current_->set_oldest', '    current_->set_oldest'),
    Mutant('segments: a writer goes on behind a gap', 'src/wal/segments.cc',
           '      if (const auto gap = gap_between(segment, end, next)) refuse(directory_, *gap);\n',
           '      static_cast<void>(gap_between(segment, end, next));\n'),
    Mutant('segments: a writer goes on without the first one', 'src/wal/segments.cc',
           '    if (const auto gap = gap_at_start(found)) refuse(directory_, *gap);\n', ''),
    Mutant('segments: a reader goes on behind a gap', 'src/wal/segments.cc',
           '      if (later_.front().header.first_sequence == end_.position.sequence && open_next())\n',
           '      if (open_next())\n'),
    Mutant('segments: a reader begins behind a gap', 'src/wal/segments.cc',
           '      if (const auto gap = gap_at_start(list)) {\n',
           '      if (const auto gap = gap_at_start(list); gap && list.segments.empty()) {\n'),
    # Servers and clients, for the network laboratory.
    Mutant('server: a push is acknowledged before it is written', SERVER,
           '  const Offset size = session.until - session.from;\n  run(\n',
           '  const Offset size = session.until - session.from;\n'
           '  host_.send(session.id, std::string(1, session.code));\n  session.must_end = true;\n  run(\n'),
    Mutant('server: a push that could not be made durable is served', SERVED,
           '  lock_->push_and_checkpoint();\n',
           '  try {\n    lock_->push_and_checkpoint();\n  } catch (...) {\n'
           '    checkpoint_ = store_.get_journal().get_checkpoint();\n    throw;\n  }\n'),
    Mutant('server: no hard checkpoint', SERVED,
           '  client_.set_hard_checkpoint(is_hard);\n', ''),
    Mutant('server: what is found at the start is not made durable', SERVED,
           '  if (is_hard && !is_shared_) store_.hard_checkpoint();\n', ''),
    Mutant('server: the lock of a dead client is kept', SERVER,
           '  if (holder_ == id && !is_lock_changing_) release();\n', ''),
    Mutant('server: the lock of a client that dies while it gets it is kept', SERVER,
           '        if (session == nullptr) return release();\n', '        if (session == nullptr) return;\n'),
    Mutant('server: a push goes on after its lock was lost', SERVER,
           '        session->refusal = code::time_out;\n        session->staged.reset();\n', ''),
    Mutant('server: pushes without the lock while somebody has it', SERVER,
           '    session.refusal = code::busy;\n', ''),
    Mutant('server: the lock is given to a second one', SERVER,
           '  if (holder_ || is_lock_changing_ ||', '  if (is_lock_changing_ ||'),
    Mutant('server: anybody unlocks', SERVER,
           '  reply(session, std::string(1, code::unlock));\n  if (holder_ == session.id) release();\n',
           '  reply(session, std::string(1, code::unlock));\n  release();\n'),
    Mutant('server: a push that unlocks does not', SERVER,
           'session.code == code::push_unlock && holder_', 'session.code == code::push && holder_'),
    Mutant('server: a push from an earlier position is taken', SERVER,
           'session.refusal == 0 && session.from != checkpoint_', 'session.refusal == 0 && session.from > checkpoint_'),
    Mutant('server: a push that was refused is written', SERVER,
           '  if (session.refusal == 0 && session.until > session.from)\n    session.staged',
           '  if (session.until > session.from)\n    session.staged'),
    Mutant('server: a push is written when half of it is there', SERVER,
           '  const Offset wanted = session.until - session.position;\n',
           '  const Offset wanted = session.input.empty() ? 0 : session.until - session.position;\n'),
    Mutant('server: a waiting pull is not woken', SERVER,
           "        wake();\n        Session* const found = find(id);\n        if (found == nullptr) return;\n"
           "        if (!error.empty() && *refusal == 0)",
           "        Session* const found = find(id);\n        if (found == nullptr) return;\n"
           "        if (!error.empty() && *refusal == 0)"),
    Mutant('server: a pull is answered with an old checkpoint', SERVER,
           '    checkpoint_ = result->checkpoint;\n    can_push_',
           '    if (result->checkpoint - checkpoint_ > 12) checkpoint_ = result->checkpoint;\n    can_push_'),
    Mutant('server: a reply is cut short', SERVER,
           '  host_.send(session.id, std::move(bytes));', '  if (size > 20) bytes.pop_back();\n'
           '  host_.send(session.id, std::move(bytes));'),
    Mutant('server: a reply is that of another position', SERVER,
           'journal_.read_cached(bytes.data() + start, size, session.position);',
           'journal_.read_cached(bytes.data() + start, size, session.position - 1);'),
    Mutant('client: a push whose reply was lost is called a conflict', ROBUST,
           '  if (now < from || end <= from) throw Conflict(from);\n', '  throw Conflict(from);\n'),
    Mutant('client: any bytes are taken for the push that has arrived', ROBUST,
           'if (parted != here.end()) throw Conflict(position + (parted - here.begin()));', ''),
    Mutant('client: a push without the lock is refused for what it has sent itself', ROBUST,
           '      if (was_sent && after == After_Push::never_locked) after = After_Push::unlock;\n', ''),
    Mutant('client: copies are not compared after a reconnection', ROBUST,
           '    compare_up_to(local_checkpoint_);\n', '    compared_ = local_checkpoint_;\n'),
    Mutant('client: after a push that had arrived, the checkpoint of others', ROBUST,
           '  checkpoint_ = std::max(from, end);\n', '  checkpoint_ = connection_->get_checkpoint();\n'),
    Mutant('client: the reply to an unlock is left for the next request', CONNECTION,
           "  if (input_.read_byte() != code::unlock) throw Protocol_Error(\"unlock error: unexpected reply\");\n", ''),
    Mutant('client: a push that came too late counts', CONNECTION,
           '      throw Push_Timed_Out("push error: time out: the lock was lost");\n', '      return;\n'),
    Mutant('server: does not look into its shared file before it answers', SERVER,
           '  if (!journal_.has_other_writers() || is_locked_) return', '  return'),
    Mutant('server: what others write to its file is not taken', SERVED,
           '  else if (is_shared_)\n    client_.pull_file();\n', ''),
    # Relays: servers with a connection to another one.
    Mutant('relay: its copy is written before the hub has accepted', CLIENT,
           '  try {\n    client_.push_new_entries(Connection::After_Push::keep_lock);\n  } catch (...) {\n'
           '    client_.local_.rollback();\n    throw;\n  }\n  client_.checkpoint();\n',
           '  client_.write_end();\n  client_.checkpoint();\n'
           '  client_.push_to_connection(Connection::After_Push::keep_lock);\n'),
    Mutant('relay: news that come while it is locked are forgotten', SERVER,
           '  if (!must_refresh_ || is_locked_ ||',
           '  if (is_locked_) must_refresh_ = false;\n  if (!must_refresh_ ||'),
    Mutant('relay: news that come while the lock changes are forgotten', SERVER,
           '  if (!must_refresh_ || is_locked_ || is_lock_changing_ || is_refreshing_) return;\n',
           '  if (is_lock_changing_) must_refresh_ = false;\n'
           '  if (!must_refresh_ || is_locked_ || is_lock_changing_ || is_refreshing_) return;\n'),
    Mutant('relay: news that come while it looks are forgotten', SERVER,
           '        is_refreshing_ = false;\n', '        is_refreshing_ = must_refresh_ = false;\n'),
    Mutant('relay: after a failure it does not look again', SERVER,
           '          refresh_time_ = system_.now() + refresh_pause;\n', ''),
    Mutant('relay: keeps the lock of the hub', SERVED,
           '  if (lock_) lock_->abandon();\n  lock_.reset();\n', ''),
    Mutant('relay: who gets the lock does not wake those who wait', SERVER,
           '        wake();  // who locks has looked for what is new\n', ''),
    Mutant('relay: what it has pulled is not served', SERVED,
           '    client_.pull_file();\n  update();\n', '    client_.pull_file();\n'),
    Mutant('relay: serves nothing after a failure at its start', SERVED,
           '  checkpoint_ = store_.get_journal().get_checkpoint();  // also if something failed after it\n'
           '}\n\nWritten_Journal::~', '  update();\n}\n\nWritten_Journal::~'),
    Mutant('relay: the watcher does not say that it has connected again', 'src/server/watch_server.cc',
           '      notify();\n      while (goes_on()) {\n', '      while (goes_on()) {\n'),
    # Journals on a replicated log.
    Mutant('cluster: a lost answer is taken for success', CLUSTER,
           '      is_repeated = true;\n      throw;\n', '      return true;\n'),
    Mutant('cluster: an answer that was lost makes a conflict', CLUSTER,
           '      is_repeated = true;\n      throw;\n', '      return false;\n'),
    Mutant('cluster: what has arrived is called a conflict', CLUSTER,
           '    if (start < common && !local.equal_to(reader_->bytes(), start, common)) throw Conflict(from);\n',
           '    throw Conflict(from);\n'),
    Mutant('cluster: any bytes are taken for the push that has arrived', CLUSTER,
           '    if (start < common && !local.equal_to(reader_->bytes(), start, common)) throw Conflict(from);\n', ''),
    Mutant('cluster: the lock is taken before it expires', CLUSTER,
           '      if (left > System::Duration(0)) {\n', '      if (left > lock_.lease * 3 / 4) {\n'),
    Mutant('cluster: who pushes without the lock does not look at it', CLUSTER,
           '    const bool is_blocked = is_locked_by_another();\n', '    const bool is_blocked = false;\n'),
    Mutant('cluster: a push goes on where others have pushed', CLUSTER,
           '  const Offset start = std::max(from, reader_->start());\n',
           '  if (state().journal.end > from) return true;\n'
           '  const Offset start = std::max(from, reader_->start());\n'),
    Mutant('cluster: a late answer is taken for a loss', CLUSTER,
           '    if (last >= known_.number) return last;\n    system_.sleep(late_answer_pause);\n',
           '    if (last >= known_.number) return last;\n    break;\n'),
    Mutant('cluster: what is archived is a conflict', CLUSTER,
           '  if (!local.equal_to(*archive.file, from, common)) throw Conflict(from);\n', '  throw Conflict(from);\n'),
    Mutant('cluster: the message of the lock is removed', CLUSTER,
           '    return lock_number == 0 ? archived.number : std::min(archived.number, lock_number);\n',
           '    return archived.number;\n'),
    Mutant('cluster: the place of a reader is between the pieces of a push', CLUSTER,
           '    if (low > newest.number)\n', '    if (false)\n'),
    Mutant('cluster: a damaged message is believed', RECORD,
           '  if (load<std::uint64_t>(bytes.data() + checksum_offset) != checksum_of(bytes))\n', '  if (false)\n'),
    Mutant('cluster: the pieces of a push that was given up stay', CLUSTER_READER,
           '  bytes_->drop_after(state_.journal.end);\n', ''),
    Mutant('cluster: what was read before the lock is forgotten', CLUSTER_READER,
           '  if (is_push) bytes_ = stage();\n', '  bytes_ = stage();\n'),
]
