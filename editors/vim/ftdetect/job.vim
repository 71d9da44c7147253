autocmd BufRead,BufNewFile *.job setfiletype job
