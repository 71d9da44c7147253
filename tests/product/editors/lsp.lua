-- Neovim's own client at work on a schema: what it shows, and what it does to the buffers.
-- $CULEXC is the compiler, the current folder has mail.job and common.job; a failure is told on
-- standard error and by the exit status.
local LIMIT_MS = 20000
local step = "start"

local function fail(text)
  io.stderr:write("lsp.lua: " .. step .. ": " .. text .. "\n")
  vim.cmd("cquit 1")
end

local function same(found, wanted)
  if not vim.deep_equal(found, wanted) then
    fail("found " .. vim.inspect(found) .. ", wanted " .. vim.inspect(wanted))
  end
end

local function has(text, part)
  if not text:find(part, 1, true) then
    fail("no " .. part .. " in " .. text)
  end
end

-- Events are handled while this waits; it ends with the condition.
local function wait(condition)
  if not vim.wait(LIMIT_MS, condition, 5) then
    fail("nothing came for " .. LIMIT_MS .. " ms")
  end
end

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, true)
end

local function line_of(text)
  for number, line in ipairs(lines()) do
    if line:find(text, 1, true) then
      return number, line
    end
  end
  fail("no line with " .. text)
end

local function go(text, inside)
  local number, line = line_of(text)
  local column = line:find(inside or text, line:find(text, 1, true), true)
  vim.api.nvim_win_set_cursor(0, { number, column - 1 })
end

local function diagnostics(count)
  wait(function()
    return #vim.diagnostic.get(0) == count
  end)
  return vim.diagnostic.get(0)
end

local function replace(text, by)
  local number, line = line_of(text)
  local from, to = line:find(text, 1, true)
  vim.api.nvim_buf_set_text(0, number - 1, from - 1, number - 1, to, { by })
end

vim.cmd("edit mail.job")
same(vim.bo.filetype, "job")
local client = vim.lsp.start_client({
  cmd = { vim.env.CULEXC, "lsp", "--tier", "minimal" },
  root_dir = vim.fn.getcwd(),
  -- A request flushes the changes of its own buffer only; those of an imported one would come later.
  flags = { debounce_text_changes = 0 },
})
vim.lsp.buf_attach_client(0, client)
local mail = vim.api.nvim_get_current_buf()

step = "diagnostics"
local shown = diagnostics(1)[1]
same({ shown.lnum, shown.col, shown.end_col }, { line_of("sting") - 1, 8, 13 })
same(shown.source, "culexc")
has(shown.message, "did you mean 'string'?")

step = "edits"
replace("sting", "string")
diagnostics(0)
replace("// \u{1F600}", "/* \u{1F600}\u{e9} */ sting x; //")
local _, wrong = line_of("sting")
same(diagnostics(1)[1].col, wrong:find("sting") - 1) -- in bytes, while the server counts UTF-16
replace("sting x; ", "")
diagnostics(0)

step = "hover"
go("string to", "to")
vim.lsp.buf.hover()
local window
wait(function()
  for _, each in ipairs(vim.api.nvim_list_wins()) do
    window = vim.api.nvim_win_get_config(each).relative ~= "" and each or window
  end
  return window ~= nil
end)
local text = table.concat(
  vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true), "\n")
has(text, "string to [[nonempty]]")
has(text, "RFC 5321 address")
has(text, 'Stored as "to"')
vim.api.nvim_win_close(window, true)

step = "definition"
go("shop.lang", "lang")
vim.lsp.buf.definition()
wait(function()
  return vim.fn.expand("%:t") == "common.job"
end)
same(vim.api.nvim_win_get_cursor(0), { 2, 5 })

step = "rename in two files"
wait(function()
  return vim.lsp.buf_is_attached(0, client)
    or vim.lsp.buf_attach_client(0, client)
end)
vim.lsp.buf.rename("tongue")
wait(function()
  return lines()[2] == "enum tongue : uint8 { EN = 1, IT = 2 }"
end)
vim.api.nvim_set_current_buf(mail)
line_of("shop.tongue lang = EN;")
diagnostics(0)

step = "rename of a param"
go("by (to", "to")
vim.lsp.buf.rename("recipient")
wait(function()
  return table.concat(lines()):find("by (recipient)", 1, true) ~= nil
end)
line_of('string recipient [[was("to"), nonempty]];')
diagnostics(0)

step = "completion"
replace("= EN", "= ")
go("lang = ;", " ;")
vim.api.nvim_win_set_cursor(0, { vim.fn.line("."), vim.fn.col(".") })
local found = vim.lsp.buf_request_sync(0, "textDocument/completion",
  vim.lsp.util.make_position_params(0, "utf-16"), LIMIT_MS)
local items = vim.lsp.util.text_document_completion_list_to_complete_items(
  found[client].result, "")
same(vim.tbl_map(function(item)
  return item.word
end, items), { "EN", "IT" })
replace("lang = ;", "lang = IT;")
diagnostics(0)

step = "formatting"
replace("string recipient", "string      recipient")
if vim.lsp.buf.format then
  vim.lsp.buf.format({ timeout_ms = LIMIT_MS })
else
  vim.lsp.buf.formatting_sync(nil, LIMIT_MS)
end
same(lines(), vim.fn.split(vim.fn.system({ vim.env.CULEXC, "fmt", "-" }, lines()), "\n"))
line_of("string      recipient [[")

step = "quick fix"
replace("recipient)", "api_token)")
replace("recipient [[", "api_token [[")
diagnostics(1)
go("api_token [[")
vim.ui.select = function(choices, _, choose)
  choose(choices[1], 1)
end
vim.lsp.buf.code_action()
wait(function()
  return table.concat(lines()):find("secret, ", 1, true) ~= nil
end)

step = "highlights, references and outline"
local function ask(method, more)
  local params = vim.tbl_extend("force", vim.lsp.util.make_position_params(0, "utf-16"), more or {})
  return vim.lsp.buf_request_sync(0, method, params, LIMIT_MS)[client].result
end
go("shop.tongue", "tongue")
same(#ask("textDocument/references", { context = { includeDeclaration = true } }), 2)
same(#ask("textDocument/documentHighlight"), 1)
same(ask("textDocument/documentSymbol")[1].name, "send_email")

step = "goodbye"
local handle = vim.lsp.get_client_by_id(client)
handle.stop()
wait(function()
  return handle.is_stopped()
end)
io.stderr:write("lsp.lua: all steps done\n")
vim.cmd("quitall!")
