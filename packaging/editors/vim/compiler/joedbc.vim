" :compiler joedbc, then :make, :cnext
if exists('current_compiler')
  finish
endif
let current_compiler = 'joedbc'

" Columns count characters.
CompilerSet makeprg=joedbc\ --check\ %:S
CompilerSet errorformat=%f:%l:%v:\ %trror:\ %m,%f:%l:%v:\ %tarning:\ %m,%-G%.%#
