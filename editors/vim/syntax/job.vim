" Syntax of .job files, the schemas of Culex.
"
" Words mean something in their place only, so each block is a region with words of its own: a
" param may be called `queue`. A declaration ends behind its block, which is what the look-behind
" for a brace finds.
if exists('b:current_syntax')
  finish
endif
syntax case match
syntax sync fromstart

" Comments.
syntax keyword jobTodo contained TODO FIXME XXX
syntax match jobComment +//.*$+ contains=jobTodo,@Spell
syntax match jobDoc +///\%(/\)\@!.*$+ contains=jobTodo,@Spell
syntax region jobComment start=+/\*+ end=+\*/+ contains=jobTodo,@Spell
syntax cluster jobComments contains=jobComment,jobDoc

" Values. Of rules that match at the same place the last one wins.
syntax match jobConstant contained /\h\w*/
syntax match jobEscape contained +\\\%(x\x\{2}\|u{\x\+}\|.\)+
syntax region jobString contained oneline start=+"+ skip=+\\.+ end=+"+ contains=jobEscape,@Spell
syntax region jobCharacter contained oneline start=+'+ skip=+\\.+ end=+'+ contains=jobEscape
syntax match jobBytes contained +\<x"[^"]*"+
syntax match jobNumber contained /-\=\<\d[0-9_]*\>/
syntax match jobNumber contained /-\=\<0[xX]\x[0-9a-fA-F_]*\>/
syntax match jobNumber contained /-\=\<0[bB][01][01_]*\>/
syntax match jobFloat contained /-\=\<\d\+\.\d\+\%([eE][-+]\=\d\+\)\=\>/
syntax match jobFloat contained /-\=\<\d\+[eE][-+]\=\d\+\>/
syntax match jobDuration contained /-\=\<\%(\d\+\%([num]s\|[smhdw]\)\)\+\>/
syntax match jobSize contained /\<\d\+[KMG]\>/
syntax cluster jobValues contains=jobString,jobCharacter,jobBytes,jobNumber,jobFloat,jobDuration,jobSize

" Attributes.
syntax region jobAttrs contained matchgroup=jobBracket start=/\[\[/ end=/\]\]/ contains=jobAttr,jobAttrOwn,jobAttrArgs,@jobComments
syntax keyword jobAttr contained was retired deprecated secret encrypted must_understand nonempty
syntax keyword jobAttr contained min_len max_len len min max closed allow_breaking
syntax match jobAttrOwn contained /\<x_\w*/
syntax region jobAttrArgs contained start=/(/ end=/)/ contains=@jobValues,@jobComments

" The head of a file.
syntax region jobPackage matchgroup=jobKeyword start=/\<package\>/ end=/;/ contains=jobPath,@jobComments
syntax match jobPath contained /\h[[:alnum:]_.]*/
syntax region jobImport matchgroup=jobKeyword start=/\<import\>/ end=/;/ contains=jobString,@jobComments

" Fields of params, returns and structs: a type, a name, and what the name's region allows.
syntax region jobFields contained matchgroup=jobBrace start=/{/ end=/}/ contains=jobFieldType,jobReserved,jobShape,jobAttrs,jobDefault,@jobComments
syntax match jobFieldType contained /\h[[:alnum:]_.]*/ contains=jobType nextgroup=jobFieldName skipwhite skipempty
syntax match jobFieldName contained /\h\w*/
syntax match jobFieldType contained /\<optional\_s\+\h[[:alnum:]_.]*/ contains=jobOptional,jobType nextgroup=jobFieldName skipwhite skipempty
syntax keyword jobOptional contained optional
" A type of the language has no package before it.
syntax match jobType contained /\.\@1<!\<\%(bool\|char\|string\|bytes\|uuid\|timestamp\|duration\|float\%(32\|64\)\|u\=int\%(8\|16\|32\|64\|128\)\)\>/
syntax match jobShape contained /\[[^][]*\]/ contains=jobNumber
syntax region jobDefault contained matchgroup=jobOperator start=/=/ end=/\ze[;}]/ contains=jobBoolean,jobConstant,@jobValues,@jobComments
syntax keyword jobBoolean contained true false
syntax region jobReserved contained matchgroup=jobKeyword start=/\<reserved\>\ze\_s*["0-9-]/ end=/;/ end=/\ze}/ contains=jobString,jobNumber,@jobComments

" Retry policies.
syntax region jobPolicyBlock contained matchgroup=jobBrace start=/{/ end=/}/ contains=jobPolicyItem,@jobComments
syntax region jobPolicyItem contained matchgroup=jobSettingName start=/\<\%(max\|for\|backoff\|jitter\)\>/ end=/;/ end=/\ze}/ contains=jobPolicyWord,@jobValues,@jobComments
syntax keyword jobPolicyWord contained constant linear polynomial exponential steps factor cap
syntax keyword jobPolicyWord contained none full equal

" Settings of a job and of defaults.
syntax region jobSetting contained matchgroup=jobSettingName start=/\<\%(queue\|priority\|timeout\|expires\|keep\|memory\|tags\|unique\|concurrency\|rate\|fair\|needs\|every\|cron\)\>/ end=/;/ end=/\ze}/ contains=jobSettingWord,jobKeys,jobStates,@jobValues,@jobComments
syntax keyword jobSettingWord contained success failure log for debounce on_conflict per burst jitter overlap tz missed
syntax keyword jobSettingWord contained keep replace error skip once all allow
syntax match jobSettingWord contained /\<by\>\ze\_s*all\>/
syntax region jobKeys contained matchgroup=jobSettingWord start=/\<by\>\%(\_s*all\>\)\@!/ end=/)/ end=/\ze[;}]/ contains=jobKey,@jobComments
syntax match jobKey contained /\h\w*/
syntax region jobStates contained matchgroup=jobSettingWord start=/\<while\>/ end=/)/ end=/\ze[;}]/ contains=jobState,@jobComments
syntax keyword jobState contained scheduled waiting active
syntax region jobRetry contained matchgroup=jobSettingName start=/\<retry\>/ end=/;/ end=/}\@1<=/ end=/\ze}/ contains=jobPolicyBlock,jobPolicyName,jobRetryNone,@jobComments
syntax match jobPolicyName contained /\h[[:alnum:]_.]*/
syntax keyword jobRetryNone contained none

" Declarations.
syntax match jobName contained /\h\w*/
syntax region jobJob matchgroup=jobKeyword start=/\<job\>/ end=/;/ end=/}\@1<=/ contains=jobName,jobAttrs,jobJobBlock,@jobComments
syntax region jobJobBlock contained matchgroup=jobBrace start=/{/ end=/}/ contains=jobParams,jobSetting,jobRetry,@jobComments
syntax region jobParams contained matchgroup=jobSection start=/\<\%(params\|returns\|metadata\)\>/ end=/}\@1<=/ end=/\ze}/ contains=jobFields,@jobComments
syntax region jobDefaults matchgroup=jobKeyword start=/\<defaults\>/ end=/}\@1<=/ contains=jobDefaultsBlock,@jobComments
syntax region jobDefaultsBlock contained matchgroup=jobBrace start=/{/ end=/}/ contains=jobSetting,jobRetry,@jobComments
syntax region jobChain matchgroup=jobKeyword start=/\<chain\>/ end=/}\@1<=/ contains=jobName,jobChainBlock,@jobComments
syntax region jobChainBlock contained matchgroup=jobBrace start=/{/ end=/}/ contains=jobStep,@jobComments
syntax match jobStep contained /\h[[:alnum:]_.]*/
syntax region jobStruct matchgroup=jobKeyword start=/\<struct\>/ end=/}\@1<=/ contains=jobName,jobAttrs,jobFields,@jobComments
" A type of the user's own: what it is written as, its header, its functions.
syntax region jobOwn matchgroup=jobKeyword start=/\<type\>\ze\_s\+\h/ end=/;/ contains=jobName,jobAttrs,jobOwnText,@jobComments
syntax region jobOwnText contained matchgroup=jobOperator start=/=/ end=/\ze;/ contains=jobType,jobOwnFunction,jobOwnWith,jobString,@jobComments
syntax match jobOwnFunction contained /\h\w*/
syntax match jobType contained /=\@1<=\_s*string\>/
syntax keyword jobOwnWith contained with
syntax region jobPolicy matchgroup=jobKeyword start=/\<retry_policy\>/ end=/}\@1<=/ contains=jobName,jobPolicyBlock,@jobComments
syntax region jobEnum matchgroup=jobKeyword start=/\<enum\>/ end=/}\@1<=/ contains=jobName,jobEnumBase,jobAttrs,jobEnumBlock,@jobComments
syntax match jobEnumBase contained /:\_s*\h\w*/ contains=jobType
syntax region jobEnumBlock contained matchgroup=jobBrace start=/{/ end=/}/ contains=jobEnumValue,jobNumber,jobAttrs,jobEnumReserved,@jobComments
syntax match jobEnumValue contained /\h\w*/
" A value may follow behind a comma, so only quoted names and numbers belong to it.
syntax match jobEnumReserved contained /\<reserved\>\ze\_s*["0-9-]/ nextgroup=jobEnumReservedItem skipwhite skipempty
syntax match jobEnumReservedItem contained /"[^"]*"\|-\=\d\w*/ contains=jobString,jobNumber nextgroup=jobEnumReservedComma skipwhite skipempty
syntax match jobEnumReservedComma contained /,/ nextgroup=jobEnumReservedItem skipwhite skipempty

highlight default link jobTodo Todo
highlight default link jobComment Comment
highlight default link jobDoc SpecialComment
highlight default link jobEscape SpecialChar
highlight default link jobString String
highlight default link jobCharacter Character
highlight default link jobBytes String
highlight default link jobNumber Number
highlight default link jobFloat Float
highlight default link jobDuration Number
highlight default link jobSize Number
highlight default link jobBracket Delimiter
highlight default link jobBrace Delimiter
highlight default link jobOperator Operator
highlight default link jobAttr PreProc
highlight default link jobAttrOwn PreProc
highlight default link jobKeyword Keyword
highlight default link jobPath Include
highlight default link jobName Function
highlight default link jobSection Structure
highlight default link jobOptional StorageClass
highlight default link jobType Type
highlight default link jobFieldType Typedef
highlight default link jobFieldName Identifier
highlight default link jobConstant Constant
highlight default link jobBoolean Boolean
highlight default link jobEnumReserved Keyword
highlight default link jobEnumValue Constant
highlight default link jobOwnWith Keyword
highlight default link jobOwnFunction Identifier
highlight default link jobSettingName Statement
highlight default link jobSettingWord Keyword
highlight default link jobPolicyWord Keyword
highlight default link jobRetryNone Keyword
highlight default link jobPolicyName Identifier
highlight default link jobStep Identifier
highlight default link jobState Constant
highlight default link jobKey Identifier

let b:current_syntax = 'job'
