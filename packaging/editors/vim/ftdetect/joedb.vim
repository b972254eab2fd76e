autocmd BufRead,BufNewFile *.joedbi setfiletype joedbi
autocmd BufRead,BufNewFile *.joedbc setfiletype joedbc
