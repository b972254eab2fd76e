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

MUTANTS = [
    Mutant('first sync of a hard checkpoint left out', WRITER,
           '  out_.sync();\n  synced_hard_checkpoint_ = get_hard_checkpoint();\n  const File_Lock head',
           '  synced_hard_checkpoint_ = get_hard_checkpoint();\n  const File_Lock head'),
    Mutant('second sync left out', WRITER,
           '  write_hard_checkpoint(position);\n  out_.datasync();\n',
           '  write_hard_checkpoint(position);\n'),
    Mutant('both copies written before the first sync', WRITER,
           '  out_.sync();\n  synced_hard_checkpoint_ = get_hard_checkpoint();\n'
           '  const File_Lock head(file_, head_lock, File_Lock::Kind::exclusive);\n  write_both_copies(position);\n',
           '  {\n    const File_Lock head(file_, head_lock, File_Lock::Kind::exclusive);\n'
           '    write_both_copies(position);\n  }\n'
           '  out_.sync();\n  synced_hard_checkpoint_ = get_hard_checkpoint();\n'),
    Mutant('memory claims a hard checkpoint first', WRITER,
           'return sync_hard_slot();\n  write_hard_checkpoint(position);\n',
           'return sync_hard_slot();\n  checkpoints_.checkpoint = position;\n  write_hard_checkpoint(position);\n'),
    Mutant('memory claims a soft checkpoint first', WRITER,
           '  require_lock();\n  flush();\n  {\n',
           '  require_lock();\n  checkpoints_.checkpoint = position;\n  flush();\n  {\n'),
    Mutant('the copy that holds the soft word written first', WRITER,
           'word(0) < word(1) ? 1 : 0', 'word(0) < word(1) ? 0 : 1'),
    Mutant('soft word written before the entries', WRITER,
           '  flush();\n  {\n    const File_Lock head(file_, head_lock, File_Lock::Kind::exclusive);\n'
           '    write_soft_word(position);\n  }\n',
           '  {\n    const File_Lock head(file_, head_lock, File_Lock::Kind::exclusive);\n'
           '    write_soft_word(position);\n  }\n  flush();\n'),
    Mutant('the hard slot of others taken for synced', WRITER,
           '  out_.datasync();\n  synced_hard_checkpoint_ = get_hard_checkpoint();\n}',
           '  synced_hard_checkpoint_ = get_hard_checkpoint();\n}'),
    Mutant('opened to overwrite, the tail not cut', WRITER,
           '    cut_to(checkpoint);\n  }\n  bury_words_beyond(checkpoint);',
           '  }\n  bury_words_beyond(checkpoint);'),
    Mutant('words beyond the end not buried', WRITER,
           '  bury_words_beyond(checkpoint);\n  if (recovery == Recovery::ignore_header) {',
           '  if (recovery == Recovery::ignore_header) {'),
    Mutant('these buried without a sync', WRITER, '  if (found) out_.datasync();\n', ''),
    Mutant('tail of a dead writer not cut', WRITER,
           '    if (file_.get_size() > get_checkpoint()) cut_to(get_checkpoint());\n', ''),
    Mutant('a transaction does not read the checkpoints', WRITER,
           '    require_tail();\n    read_checkpoints();\n', '    require_tail();\n'),
    Mutant('rollback does not cut', WRITER,
           'if (!tail || !has_tail_been_overtaken()) cut_to(get_checkpoint());', ';'),
    Mutant('rollback keeps the buffer', WRITER,
           '  used_ = 0;\n  flushed_ = get_checkpoint();\n  is_ready_ = false;\n  rewind();',
           '  flushed_ = get_checkpoint();\n  is_ready_ = false;\n  rewind();'),
    Mutant('a hard checkpoint written over the one before', WRITER,
           '  const int slot = checkpoints_.next_slot();\n', '  const int slot = checkpoints_.hard_index;\n'),
    Mutant('one copy of a hard checkpoint written', WRITER, '  write_word(slot, 1 - first, position);\n', ''),
    Mutant('a new hard checkpoint claimed for the old slot', WRITER, '  checkpoints_.hard_index ^= 1;\n', ''),
    Mutant('hard recovery believes soft checkpoints', READER,
           'if (recovery == Recovery::hard) checkpoints_.checkpoint = get_hard_checkpoint();', ';'),
    Mutant('soft word believed beyond the end', CHECKPOINTS,
           ' && (!file_size || -word <= *file_size)', ' && (file_size || !file_size)'),
    Mutant('one copy of a hard checkpoint is enough', CHECKPOINTS,
           'words[first] == words[first + 1] && ', ''),
    Mutant('the smaller of two soft words believed', CHECKPOINTS,
           'if (-word >= checkpoint && ', 'if ((checkpoint == 41 || -word <= checkpoint) && '),
    Mutant('writing goes on after a failure', 'src/io/fail_stop_file.cc',
           'has_failed_ = true;  // unless f returns', 'has_failed_ = false;'),
    Mutant('a push makes soft what was to be hard', 'src/replica/connection.cc',
           '  writer_->checkpoint(level);\n',
           '  writer_->checkpoint(Checkpoint_Level::soft);\n  static_cast<void>(level);\n'),
]
