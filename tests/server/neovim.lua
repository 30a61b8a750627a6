-- What a user does in Neovim, without one: each step waits for what the server says, and the last line is the outcome.
local told = {}

local function say(name, value) told[name] = value end

local function codes()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do table.insert(found, one.code) end
  return table.concat(found, " ")
end

local function waits_for(name, holds)
  say(name, vim.wait(30000, holds, 50))
end

local function ask(method, parameters)
  local answers = vim.lsp.buf_request_sync(0, method, parameters, 30000) or {}
  for _, answer in pairs(answers) do return answer.result end
end

waits_for("opened", function() return codes() == "DEV101" end)
vim.api.nvim_win_set_cursor(0, { 5, 20 })
local client = vim.lsp.get_clients({ name = "devlint" })[1]
local here = vim.lsp.util.make_position_params(0, client.offset_encoding)
say("hover", (ask("textDocument/hover", here) or { contents = {} }).contents.value)
local range = vim.lsp.util.make_range_params(0, client.offset_encoding)
range.context = { diagnostics = {}, triggerKind = 1 }
local actions = ask("textDocument/codeAction", range) or {}
say("action", actions[1] and actions[1].title)
vim.lsp.util.apply_workspace_edit(actions[1].edit, client.offset_encoding)
say("fixed", vim.api.nvim_buf_get_lines(0, 4, 5, false)[1])
waits_for("clean", function() return codes() == "" end)
vim.cmd("undo")
waits_for("undone", function() return codes() == "DEV101" end)
vim.api.nvim_buf_set_lines(0, -1, -1, false, { "y = torch.ones(" })
waits_for("broken", function() return codes() == "DEV901" end)
vim.cmd("undo")
waits_for("whole", function() return codes() == "DEV101" end)
vim.cmd("silent saveas " .. vim.fn.fnameescape(vim.fn.expand("%:p:h") .. "/renamed.py"))
waits_for("renamed", function() return codes() == "DEV101" end)
vim.cmd("edit other.py")
vim.api.nvim_buf_set_lines(0, 0, -1, false, { "import torch", "def f(x: torch.Tensor):", "    return x + torch.ones(3)" })
waits_for("another", function() return codes() == "DEV101" end)
os.remove(vim.fn.expand("%:p:h") .. "/renamed.py")
vim.cmd("bdelete! renamed.py")
say("alive", client:is_stopped() == false)
io.stdout:write("\n" .. vim.json.encode(told) .. "\n")
vim.cmd("qall!")
