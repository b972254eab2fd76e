" Options of joedbc. The same as vscode/syntaxes/joedbc.tmLanguage.json.
if exists('b:current_syntax')
  finish
endif

syntax match joedbcComment /^\s*#.*$/
syntax match joedbcOption /^\s*namespace\>/ nextgroup=joedbcNamespace skipwhite
syntax match joedbcNamespace /[[:alnum:]_:]\+/ contained
syntax match joedbcOption /^\s*\%(create_index\|create_unique_index\)\>/ nextgroup=joedbcIndex skipwhite
syntax match joedbcIndex /\w\+/ contained nextgroup=joedbcIndexTable skipwhite
syntax match joedbcIndexTable /\w\+/ contained nextgroup=joedbcFields skipwhite
syntax match joedbcFields /[[:alnum:]_,]\+/ contained
syntax match joedbcOption /^\s*set_single_row\>/ nextgroup=joedbcTable skipwhite
syntax match joedbcTable /\w\+/ contained nextgroup=joedbcBoolean skipwhite
syntax match joedbcBoolean /\<\%(true\|false\)\>/ contained
syntax match joedbcOption /^\s*timestamp_transactions\>/
syntax match joedbcOption /^\s*unmarked_transactions\>/
syntax match joedbcOld /^\s*set_table_storage\>.*$/

highlight default link joedbcComment Comment
highlight default link joedbcOption Keyword
highlight default link joedbcNamespace Structure
highlight default link joedbcIndex Function
highlight default link joedbcIndexTable Type
highlight default link joedbcTable Type
highlight default link joedbcFields Identifier
highlight default link joedbcBoolean Boolean
highlight default link joedbcOld Todo

let b:current_syntax = 'joedbc'
