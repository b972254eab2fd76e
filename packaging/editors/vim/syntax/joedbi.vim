" The schema of a joedb database: joedbi commands. The same as vscode/syntaxes/joedbi.tmLanguage.json.
if exists('b:current_syntax')
  finish
endif

syntax match joedbiComment /^\s*#.*$/

syntax match joedbiDefine /^\s*\%(create_table\|drop_table\|rename_table\)\>/ nextgroup=joedbiTable skipwhite
syntax match joedbiDefine /^\s*\%(drop_field\|rename_field\)\>/ nextgroup=joedbiFieldTable skipwhite
syntax match joedbiDefine /^\s*\%(add_field\|set_type\|retype_field\)\>/ nextgroup=joedbiNewFieldTable skipwhite
syntax match joedbiDefine /^\s*custom\>/ nextgroup=joedbiFunction skipwhite
syntax match joedbiDefine /^\s*\%(create_index\|create_unique_index\)\>/ nextgroup=joedbiIndex skipwhite
syntax match joedbiDefine /^\s*drop_index\>/ nextgroup=joedbiFunction skipwhite
syntax match joedbiIndex /\w\+/ contained nextgroup=joedbiIndexTable skipwhite
syntax match joedbiIndexTable /\w\+/ contained nextgroup=joedbiIndexFields skipwhite
syntax match joedbiIndexFields /[[:alnum:]_,]\+/ contained
syntax match joedbiTable /\w\+/ contained nextgroup=joedbiTable skipwhite
syntax match joedbiFieldTable /\w\+/ contained nextgroup=joedbiField skipwhite
syntax match joedbiField /\w\+/ contained nextgroup=joedbiField skipwhite
syntax match joedbiNewFieldTable /\w\+/ contained nextgroup=joedbiNewField skipwhite
syntax match joedbiNewField /\w\+/ contained nextgroup=joedbiType,joedbiReferences skipwhite
syntax match joedbiType /\<\%(string\|blob\|int8\|int16\|int32\|int64\|float32\|float64\|boolean\)\>/
      \ contained nextgroup=joedbiOptional skipwhite
syntax match joedbiType /\<\%(date\|bytes\|uuid\|json\)\>/ contained nextgroup=joedbiOptional skipwhite
syntax match joedbiType /\<\%(timestamp\|duration\|decimal\|enum\)\>\%(([^)]*)\)\?/
      \ contained nextgroup=joedbiOptional skipwhite
syntax match joedbiOptional /\<optional\>/ contained
syntax match joedbiReferences /\<references\>/ contained nextgroup=joedbiTable skipwhite
syntax match joedbiFunction /\w\+/ contained

syntax match joedbiStatement /^\s*\%(update\|insert_into\|delete_from\)\>/ nextgroup=joedbiTableOnce skipwhite
syntax match joedbiStatement /^\s*\%(update\|insert\|delete\)_vector\>/ nextgroup=joedbiTableOnce skipwhite
syntax match joedbiStatement /^\s*\%(table\|record\|describe\|find\|blame\)\>/ nextgroup=joedbiTableOnce skipwhite
syntax match joedbiStatement /^\s*\%(set\|about\|help\|quit\|exit\|abort\|echo\|prompt\|timestamp\|comment\)\>/
syntax match joedbiStatement /^\s*\%(valid_data\|flush\|soft_checkpoint\|checkpoint\|hard_checkpoint\|rollback\)\>/
syntax match joedbiStatement /^\s*\%(write_blob\|read_blob\|schema\|dump\|sql\|json\|transaction\|db\)\>/
syntax match joedbiStatement /^\s*\%(pull\|pull_every\|push\|push_every\|break_lock\)\>/
syntax match joedbiStatement /^\s*\%(set_valid_data\|set_timestamp\|set_hard_checkpoint\|set_author\)\>/
syntax match joedbiStatement /^\s*\%(select\|SELECT\|with\|WITH\)\>/
syntax match joedbiStatement /^\s*\%(log\|show\|diff\|tag\|undo\|revert\|restore\)\>/
syntax match joedbiStatement /^\s*?/
syntax match joedbiTableOnce /\w\+/ contained

syntax match joedbiEscape /\\\%(\o\{3}\|x\x\{2}\|[^0-9A-Za-z]\)/ contained
syntax region joedbiString start=/"/ skip=/\\./ end=/"\|$/ oneline contains=joedbiEscape
syntax match joedbiNumber /\%(^\|\s\)\@<=[-+]\?\d\+\%(\.\d*\)\?\%([eE][-+]\?\d\+\)\?\%(,\d\+\)\?\ze\%(\s\|$\)/
syntax match joedbiConstant /\%(^\|\s\)\@<=\%(true\|false\|null\|nan\|-\?inf\|on\|off\)\ze\%(\s\|$\)/
syntax match joedbiOperator /\s\@<==\ze\s/

highlight default link joedbiComment Comment
highlight default link joedbiDefine Keyword
highlight default link joedbiStatement Statement
highlight default link joedbiTable Type
highlight default link joedbiTableOnce Type
highlight default link joedbiFieldTable Type
highlight default link joedbiNewFieldTable Type
highlight default link joedbiField Identifier
highlight default link joedbiNewField Identifier
highlight default link joedbiType StorageClass
highlight default link joedbiOptional StorageClass
highlight default link joedbiReferences StorageClass
highlight default link joedbiFunction Function
highlight default link joedbiIndex Function
highlight default link joedbiIndexTable Type
highlight default link joedbiIndexFields Identifier
highlight default link joedbiString String
highlight default link joedbiEscape SpecialChar
highlight default link joedbiNumber Number
highlight default link joedbiConstant Constant
highlight default link joedbiOperator Operator

let b:current_syntax = 'joedbi'
