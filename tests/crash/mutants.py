"""Errors that the crash laboratory must find: scripts/mutants.py plants them."""
from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    old: str  # stands in the file exactly once
    new: str


WRITER = 'src/journal/writable_journal.cc'
READER = 'src/journal/readonly_journal.cc'
CHECKPOINTS = 'src/journal/checkpoints.cc'

MAPPED = 'include/joedb/io/mapped_file.h'
SEAL = 'src/format/seal.cc'
INTEGRITY = 'src/journal/integrity.cc'
LOG = 'src/wal/writer.cc'

MUTANTS = [
    # Two syncs.
    Mutant('first sync of a hard checkpoint left out', WRITER,
           '  out_.sync();\n  synced_hard_checkpoint_ = get_hard_checkpoint();\n  write_slot(position, position);\n',
           '  synced_hard_checkpoint_ = get_hard_checkpoint();\n  write_slot(position, position);\n'),
    Mutant('last sync left out', WRITER, '  try {\n    out_.datasync();\n', '  try {\n'),
    Mutant('both copies written before the first sync', WRITER,
           '  flush();\n  out_.sync();\n  synced_hard_checkpoint_ = get_hard_checkpoint();\n'
           '  write_slot(position, position);\n',
           '  flush();\n  write_slot(position, position);\n  out_.sync();\n'
           '  synced_hard_checkpoint_ = get_hard_checkpoint();\n'),
    Mutant('the copy that holds the soft word written first', WRITER,
           'words[first] < words[first + 1]', 'words[first] > words[first + 1]'),
    Mutant('a hard checkpoint written over the one before', WRITER,
           '  const int slot = checkpoints_.next_slot();\n  const auto first',
           '  const int slot = checkpoints_.hard_index;\n  const auto first'),
    Mutant('one copy of a hard checkpoint written', WRITER,
           '    out_.pwrite(bytes, sizeof bytes, checkpoint_word_offset(slot, 0));',
           '    out_.pwrite(bytes, 8, checkpoint_word_offset(slot, 0));'),
    Mutant('a new hard checkpoint claimed for the old slot', WRITER, '  checkpoints_.hard_index ^= 1;\n', ''),
    Mutant('the hard slot of others taken for synced', WRITER,
           '  out_.datasync();\n  synced_hard_checkpoint_ = get_hard_checkpoint();\n}',
           '  synced_hard_checkpoint_ = get_hard_checkpoint();\n}'),
    # Seals.
    Mutant('a seal over one byte too few', WRITER,
           'seal = make_seal({body(), used_}, position);',
           'seal = make_seal({body() + 1, used_ - 1}, position);'),
    Mutant('a seal that is made of other bytes', SEAL,
           'hash_of(body, static_cast<std::uint64_t>(position))', 'hash_of({}, static_cast<std::uint64_t>(position))'),
    Mutant('a seal over bytes behind a checkpoint that is not synced', WRITER,
           'has_seals_ && synced_hard_checkpoint_ == get_hard_checkpoint() &&', 'has_seals_ &&'),
    Mutant('a seal is not compared', READER,
           '        seal_of(position - size, position) == words[slot + 1]) {', '        true) {'),
    Mutant('a seal is never believed', READER, 'size > 0 && position >= get_hard', 'size < 0 && position >= get_hard'),
    Mutant('a seal beyond the end of the file is believed', READER,
           '(file_size == Abstract_File::unknown_size || position <= file_size) &&\n        seal_of',
           'size > 0 && position > file_size &&\n        0 * seal_of'),
    Mutant('the position takes the place of the seal before the sync', WRITER,
           '  pending_ = {position, is_sealed};\n',
           '  if (is_sealed) write_word(checkpoints_.next_slot(), 1, position);\n'
           '  pending_ = {position, is_sealed};\n'),
    Mutant('the position takes the place of the seal in the other slot', WRITER,
           'write_word(checkpoints_.hard_index, 1, done.position);',
           'write_word(checkpoints_.next_slot(), 1, done.position);'),
    Mutant('a seal that is found gives way without a sync', WRITER,
           '    sync_hard_slot();\n    write_word(slot, 1, get_hard_checkpoint());',
           '    write_word(slot, 1, get_hard_checkpoint());'),
    Mutant('a seal that is found gives way to the wrong copy', WRITER,
           '    write_word(slot, 1, get_hard_checkpoint());', '    write_word(slot, 0, 41);'),
    Mutant('a failed sync is no failure', WRITER,
           '  if (sync_error_) std::rethrow_exception(std::exchange(sync_error_, nullptr));\n', ''),
    Mutant('a failed sync is tried again', WRITER,
           '  try {\n    out_.datasync();\n  } catch (...) {\n    error = std::current_exception();',
           '  try {\n    file_.datasync();\n  } catch (...) {\n'
           '    try {\n      file_.datasync();\n    } catch (...) {\n'
           '      error = std::current_exception();\n    }'),
    Mutant('what waits is acknowledged before the sync', WRITER,
           '  if (!is_durable(position)) hard_checkpoint();', '  if (!is_durable(position)) soft_checkpoint();'),
    Mutant('a soft checkpoint is written where a hard one is being made', WRITER,
           '  const int copy = checkpoints_.soft_index ^ 1;\n  write_word(checkpoints_.next_slot(), copy, -position);',
           '  const int copy = checkpoints_.soft_index ^ 1;\n  write_word(checkpoints_.hard_index, copy, -position);'),
    # Soft words.
    Mutant('memory claims a soft checkpoint first', WRITER,
           '  require_lock();\n  append_integrity();\n  flush();\n  write_soft',
           '  require_lock();\n  append_integrity();\n  checkpoints_.checkpoint = get_position();\n'
           '  flush();\n  write_soft'),
    Mutant('memory claims a hard checkpoint first', WRITER,
           '  if (get_hard_checkpoint() >= get_position()) return sync_hard_slot();\n  begin',
           '  if (get_hard_checkpoint() >= get_position()) return sync_hard_slot();\n'
           '  checkpoints_.checkpoint = get_position();\n  begin'),
    Mutant('soft word written before the entries', WRITER,
           '  append_integrity();\n  flush();\n  write_soft_word(get_position());\n',
           '  append_integrity();\n  write_soft_word(get_position());\n  flush();\n'),
    Mutant('soft word believed beyond the end', CHECKPOINTS,
           ' && (!file_size || -word <= *file_size)', ' && (file_size || !file_size)'),
    Mutant('one copy of a hard checkpoint is enough', CHECKPOINTS,
           'words[first] == words[first + 1] && ', ''),
    Mutant('the smaller of two soft words believed', CHECKPOINTS,
           'if (-word >= checkpoint && ', 'if ((checkpoint == 41 || -word <= checkpoint) && '),
    Mutant('hard recovery believes soft checkpoints', READER,
           'if (recovery == Recovery::hard) checkpoints_.checkpoint = get_hard_checkpoint();', ';'),
    Mutant('words beyond the end not buried', WRITER,
           '  } else {\n    bury_words_beyond(checkpoint);\n  }\n', '  }\n'),
    Mutant('these buried without a sync', WRITER, '  if (found) out_.datasync();\n', '  static_cast<void>(found);\n'),
    Mutant('the newest soft word buried first', WRITER, 'return words[a] > words[b]', 'return words[a] < words[b]'),
    # Tails.
    Mutant('opened to overwrite, the tail not cut', WRITER,
           '    bury_words_beyond(checkpoint);\n    drop_tail(file_size);\n', '    bury_words_beyond(checkpoint);\n'),
    Mutant('a tail of zeros is no tail, and stays', WRITER,
           '    if (recovery != Recovery::overwrite && recovery != Recovery::hard &&\n',
           '    if (file_.is_zero(checkpoint, file_size)) return;\n'
           '    if (recovery != Recovery::overwrite && recovery != Recovery::hard &&\n'),
    Mutant('any tail is dropped without a question', 'src/io/file.cc',
           'n < wanted || std::any_of', 'n < wanted || !std::any_of'),
    Mutant('tail of a dead writer not cut', WRITER,
           '    if (size > get_checkpoint()) drop_tail(size);\n', ''),
    Mutant('a transaction does not read the checkpoints', WRITER,
           '    const Offset size = read_checkpoints(read_words());\n', '    const Offset size = file_.get_size();\n'),
    Mutant('rollback does not cut', WRITER,
           'if (!tail || !has_tail_been_overtaken()) cut_to(get_checkpoint());', ';'),
    Mutant('rollback keeps the buffer', WRITER,
           '  used_ = 0;\n  go_to(get_checkpoint());\n  set_covered',
           '  go_to(get_checkpoint());\n  set_covered'),
    Mutant('zeros are written over entries', WRITER,
           '    file_.write_zeros(end, new_end);\n',
           '    file_.write_zeros(std::max(journal_start, flushed_ - 3), new_end);\n'),
    # Integrity entries.
    Mutant('integrity entries are not compared', INTEGRITY, 'hash(entry.start, end) == entry.hash;',
           '(hash(entry.start, end) == entry.hash || entry.hash != 0);'),
    Mutant('integrity entries are not required', READER,
           '  if (hard < get_checkpoint() && hard > journal_start && reader.entry_before(hard))\n',
           '  if (hard < 0)\n'),
    Mutant('a writer does not go on with integrity entries', WRITER,
           '  has_integrity_ = has_integrity_ || is_covered();\n  committed', '  committed'),
    Mutant('an integrity entry stands behind what was asked for', WRITER,
           '  set_covered(get_position());\n', '  set_covered(get_position() + 1);\n'),
    Mutant('dropped tails keep their integrity entries', WRITER,
           '    out_.write_zeros(get_checkpoint(), file_size);\n', ''),
    # Mapped files.
    Mutant('a map where the disk has no room', MAPPED, '      grow_to(new_end);\n', ''),
    Mutant('a rollback leaves its bytes in the map', MAPPED,
           '      this->store(zeros.data(), zeros.size(), size);\n', ''),
    Mutant('a map that goes on where the file was cut off', MAPPED,
           '    unmap();\n    if (allocated_ > size)', '    if (allocated_ > size)'),
    # Failures, and other files.
    Mutant('writing goes on after a failure', 'src/io/fail_stop_file.cc', '  has_failed_ = true;\n', ''),
    Mutant('the file grows ahead after a failure', WRITER,
           '  out_.require_no_failure();\n  const Offset new_end', '  const Offset new_end'),
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
    Mutant('log: the place of the next entry not cleared', LOG, '    clear_tail(file_, header_, next_);\n', ''),
    Mutant('log: the place of the next entry cleared, but not synced', 'src/wal/recover.cc',
           '  if (!is_clear) file.datasync();\n', ''),
    Mutant('log: the epoch not in the checksum', 'src/wal/format.cc',
           'store(store(bytes.data(), header.log_id), header.epoch);',
           'store(store(bytes.data(), header.log_id), std::uint64_t{0});'),
    Mutant('log: any good entry follows', 'src/wal/reader.cc',
           '(s.previous && header.previous != *s.previous)', 'false'),
    Mutant('log: a new header torn for something else', LOG,
           '    file_.write_zeros(log_start - 8, log_start);\n    file_.datasync();\n', ''),
    Mutant('log: called back before the sync', 'src/wal/async_writer.cc',
           '      sync();\n      return nullptr;\n', '      return nullptr;\n'),
    Mutant('copies: one is enough', 'src/wal/copies.cc', '  if (used() >= needed) return;\n',
           '  if (used() >= 1) return;\n'),
    Mutant('copies: not repaired', 'src/wal/copies.cc',
           '      if (repair.to == copy.index)\n', '      if (false)\n'),
    Mutant('copies: a new one may miss the header', 'src/wal/copies.cc',
           'is_new_ ? files_.size() : needed_', 'needed_'),
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
]
