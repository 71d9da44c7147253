" A level for each open block.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=JobIndent(v:lnum)
setlocal indentkeys=0{,0},o,O
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*JobIndent')
  finish
endif

function JobIndent(lnum)
  let before = prevnonblank(a:lnum - 1)
  let indent = indent(before)
  if getline(before) =~# '{[^}]*$'
    let indent += shiftwidth()
  endif
  if getline(a:lnum) =~# '^\s*}'
    let indent -= shiftwidth()
  endif
  return indent < 0 ? 0 : indent
endfunction
