" Settings for .job files, the schemas of Culex.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

" The layout of `culexc fmt`.
setlocal expandtab shiftwidth=4 softtabstop=4 textwidth=100
setlocal commentstring=//\ %s
setlocal comments=sO:*\ -,mO:*\ \ ,exO:*/,s1:/*,mb:*,ex:*/,:///<,:///,://
setlocal formatoptions-=t formatoptions+=croql
setlocal suffixesadd=.job
setlocal include=^\\s*import\\s*\"

let b:undo_ftplugin = 'setlocal expandtab< shiftwidth< softtabstop< textwidth< commentstring<'
      \ . ' comments< formatoptions< suffixesadd< include<'
