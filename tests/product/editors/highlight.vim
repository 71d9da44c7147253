" Writes the syntax group of every byte of some texts: from $CULEX_TEXTS, a list of lists of lines
" in JSON, to $CULEX_GROUPS.
let s:found = []
for s:lines in json_decode(join(readfile($CULEX_TEXTS), ''))
  enew!
  call setline(1, s:lines)
  set filetype=job
  let s:groups = []
  for s:line in range(1, line('$'))
    call add(s:groups, map(range(1, len(getline(s:line))),
          \ {_, column -> synIDattr(synID(s:line, column, 1), 'name')}))
  endfor
  call add(s:found, s:groups)
endfor
call writefile([json_encode(s:found)], $CULEX_GROUPS)
quitall!
