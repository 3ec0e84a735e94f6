-- lanescope in Neovim: mean active lanes at the end of each line, advice and findings as diagnostics, anew
-- at each save.
--
--   :luafile examples/neovim/lanescope.lua
--   :lua Lanescope.start()        -- or with options: { "--launch", "my.toml", "--device", "sim:32" }
--   :lua Lanescope.stop()
--
-- It reads what `lanescope profile FILE --watch --json-lines` prints, a line of JSON a run.

Lanescope = { program = vim.env.LANESCOPE or "lanescope" }

local space = vim.api.nvim_create_namespace("lanescope")
local severity = {
  note = vim.diagnostic.severity.HINT,
  warning = vim.diagnostic.severity.WARN,
  error = vim.diagnostic.severity.ERROR,
}
local jobs = {}

-- Shows one run's marks in a buffer.
local function show(buffer, event)
  if not vim.api.nvim_buf_is_valid(buffer) then return end
  if event.event == "error" then
    vim.diagnostic.set(space, buffer, { {
      lnum = 0, col = 0, message = event.message, severity = severity.error, source = "lanescope",
    } })
    return
  end
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  local diagnostics, device = {}, nil
  for _, mark in ipairs(event.marks) do
    local line = mark.line - 1
    if line < vim.api.nvim_buf_line_count(buffer) then
      if mark.kind == "lanes" then
        -- Of several devices the first one's figures are shown.
        device = device or mark.figures.device
      end
      if mark.kind == "lanes" and mark.figures.device == device then
        local efficiency = mark.figures.efficiency_ratio
        local idle = type(efficiency) == "number" and efficiency < 0.75
        vim.api.nvim_buf_set_extmark(buffer, space, line, 0, {
          virt_text = { { mark.message, idle and "WarningMsg" or "Comment" } },
          virt_text_pos = "eol",
        })
      elseif mark.kind ~= "lanes" then
        table.insert(diagnostics, {
          lnum = line, col = mark.column - 1, end_col = mark.column_end - 1,
          message = mark.message, severity = severity[mark.level], source = "lanescope", code = mark.kind,
        })
      end
    end
  end
  vim.diagnostic.set(space, buffer, diagnostics)
end

function Lanescope.start(options)
  local buffer = vim.api.nvim_get_current_buf()
  Lanescope.stop()
  local command = { Lanescope.program, "profile", vim.api.nvim_buf_get_name(buffer), "--watch", "--json-lines" }
  -- The program runs in another folder: files are named from the root.
  for number, word in ipairs(options or {}) do
    local before = options[number - 1]
    local is_file = before == "--launch" or before == "-l"
    table.insert(command, is_file and vim.fn.fnamemodify(word, ":p") or word)
  end
  local rest = ""
  jobs[buffer] = vim.fn.jobstart(command, {
    cwd = vim.fn.tempname():match("(.*)/"),
    on_stdout = function(_, data)
      -- The first piece goes on with the line before; the last may not be whole yet.
      data[1] = rest .. data[1]
      rest = table.remove(data)
      for _, line in ipairs(data) do
        local ok, event = pcall(vim.json.decode, line)
        if ok then vim.schedule(function() show(buffer, event) end) end
      end
    end,
  })
end

function Lanescope.stop()
  local buffer = vim.api.nvim_get_current_buf()
  if jobs[buffer] then vim.fn.jobstop(jobs[buffer]) end
  jobs[buffer] = nil
end
