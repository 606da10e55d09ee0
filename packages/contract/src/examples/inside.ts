import { ids, times, type Examples } from "./example.ts";

const base64 = (text: string) => btoa(text);
const processId = "1f0cf6c6-6f4d-4a53-8b3e-0d8c2f0f7c11";

const executors = [
  { name: "default", busy: false, created_at: times.created, last_used_at: times.created },
  {
    name: "checkout",
    busy: true,
    created_at: times.created,
    last_used_at: times.updated,
    target_id: "9A1C7E0B5D3F4A2E8B6C1D0F7E9A3B5C",
    url: "https://shop.example/cart",
  },
];

const customTool = {
  id: "ct_k3v9x2m7q1c5z8w4t6b0n2yd",
  namespace: "shop",
  kind: "page",
  match: { url_patterns: ["https://shop.example/*"] },
  tool: { name: "title", description: "Title of the page", inputSchema: { type: "object" } },
};

const search = {
  id: "m3x1p0v2k7c9q5w8z6t4r2yh",
  query: "fish recipes",
  provider: "searxng",
  results: [
    {
      id: "r1",
      rank: 1,
      url: "https://cook.example/fish",
      title: "Baked fish",
      snippet: "Fish from the oven in 30 minutes.",
      source: "duckduckgo",
    },
  ],
  attempts: [{ provider: "searxng", outcome: "success", duration_ms: 412 }],
  warnings: [],
  usage: { provider_requests: 1, rendered_pages: 0 },
  expires_at: times.updated,
};

/** Examples of operations inside a session: files, processes, mouse and keyboard, recordings, events. */
export const insideExamples = {
  FilePath: [{ path: "/home/shoal/Downloads/report.pdf" }],
  FileInfo: [
    {
      name: "report.pdf",
      path: "/home/shoal/Downloads/report.pdf",
      size_bytes: 18_204,
      is_dir: false,
      mod_time: times.updated,
      mode: "-rw-r--r--",
    },
  ],
  CreateDirectory: [{ path: "/home/shoal/inbox", mode: "0755" }],
  MovePath: [{ src_path: "/home/shoal/Downloads/report.pdf", dest_path: "/home/shoal/inbox/report.pdf" }],
  SetFilePermissions: [{ path: "/home/shoal/run.sh", mode: "0755" }],
  StartWatch: [{ path: "/home/shoal/Downloads", recursive: true }],
  DirectoryWatch: [{ watch_id: "w7" }],
  FileSystemEvent: [
    { type: "CREATE", path: "/home/shoal/Downloads/report.pdf", name: "report.pdf", is_dir: false },
    {
      type: "RENAME",
      path: "/home/shoal/Downloads/report.pdf.crdownload",
      dest_path: "/home/shoal/Downloads/report.pdf",
      is_dir: false,
    },
  ],
  ExecProcess: [
    { command: "python3", args: ["-c", "print(6 * 7)"], cwd: "/home/shoal", env: { LANG: "C.UTF-8" }, timeout_sec: 30 },
  ],
  ExecResult: [{ exit_code: 0, stdout_b64: base64("42\n"), stderr_b64: "", duration_ms: 61 }],
  SpawnProcess: [{ command: "bash", allocate_tty: true, rows: 24, cols: 80 }],
  SpawnedProcess: [{ process_id: processId, pid: 4711, started_at: times.created }],
  ProcessStatus: [{ state: "exited", exit_code: 0, cpu_pct: 0, mem_bytes: 0 }],
  ListedProcess: [
    {
      process_id: processId,
      pid: 4711,
      command: "bash",
      started_at: times.created,
      state: "running",
      exit_code: null,
      tty: true,
      cpu_pct: 1.5,
      mem_bytes: 4_194_304,
    },
  ],
  BrowserStats: [{ cpu_pct: 12.5, mem_bytes: 251_658_240, processes: 9, pages: 2, clients: 1, viewers: 0 }],
  KillProcess: [{ signal: "TERM" }],
  ResizeTerminal: [{ rows: 40, cols: 120 }],
  WriteStdin: [{ data_b64: base64("ls\n") }],
  StdinResult: [{ written_bytes: 3 }],
  ProcessStreamEvent: [
    { stream: "stdout", data_b64: base64("42\n") },
    { event: "exit", exit_code: 0 },
  ],
  Ok: [{ ok: true }],
  ExecutePlaywright: [{ code: "await page.goto('https://example.com/'); return await page.title();", timeout_sec: 60 }],
  PlaywrightResult: [
    {
      success: true,
      result: "Example Domain",
      stdout: "",
      stderr: "",
      tab: { target_id: "9A1C7E0B5D3F4A2E8B6C1D0F7E9A3B5C", created: false },
    },
  ],
  RunRepl: [{ code: "await gotoUrl('https://example.com/'); repl.write(await pageInfo());", timeout_sec: 60 }],
  ReplResult: [
    {
      repl_id: "n4c1v7k2m9x5q0w3z8b6t1yd",
      success: true,
      content: [{ type: "text", channel: "write", text: "Example Domain" }],
      content_truncated: false,
      duration_ms: 412,
      repl_terminated: false,
    },
    {
      repl_id: "n4c1v7k2m9x5q0w3z8b6t1yd",
      success: false,
      content: [],
      content_truncated: false,
      duration_ms: 3,
      error: "ReferenceError: total is not defined",
      stack: "ReferenceError: total is not defined\n    at cell-2.js:1:1",
      repl_terminated: false,
    },
  ],
  WebMcpTools: [
    {
      tools: [
        {
          tool_ref: "wmcp_q8Z0cG1nD4xV7kR2mT5yLw",
          tool: { name: "search", description: "Search the shop", inputSchema: { type: "object" } },
          source: { window_id: 1, tab_id: 1, page_title: "Shop", page_url: "https://shop.example/", frame: null },
        },
      ],
    },
  ],
  CustomWebMcpTools: [{ tools: [customTool] }],
  AddCustomWebMcpTools: [
    {
      namespace: "shop",
      source:
        '[{ kind: "page", match: { url_patterns: ["https://shop.example/*"] }, tool: { name: "title", description: "Title of the page" }, execute: () => document.title }]',
    },
  ],
  InvokeWebMcpTool: [{ tool_ref: "wmcp_q8Z0cG1nD4xV7kR2mT5yLw", input: { query: "herring" }, timeout_sec: 60 }],
  WebMcpInvocation: [{ invocation_id: "7", status: "completed", output: { found: 3 } }],
  WebMcpOutcomeUnknown: [
    {
      code: "outcome_unknown",
      message: 'The tool "order" did not answer within 60 seconds. Observe the page: the tool may have had effects.',
      hint: "Observe the page: the tool may have had effects.",
      invocation_id: "8",
    },
  ],
  PlaywrightExecutors: [{ executors }],
  PlaywrightConflict: [
    {
      code: "conflict",
      message: "The session has 8 named executors, the limit. Delete one: checkout.",
      limit: 8,
      hint: "Delete one: checkout.",
      executors,
    },
  ],
  ObservePage: [{ max_tokens: 2000, diff: true }],
  PageObservation: [
    {
      url: "https://shop.example/",
      title: "Shop",
      tab: "t1",
      tabs: [{ id: "t1", url: "https://shop.example/", title: "Shop", active: true }],
      outline: '- heading "Shop" [level=1]\n- textbox "Search" [e1]\n- button "Search" [e2]',
      tokens: 21,
      left_out: 0,
      diff: false,
      scroll: { above: 0, below: 640 },
    },
  ],
  ActOnPage: [{ type: "fill", ref: "e1", text: "herring", submit: true }],
  ActResult: [
    {
      tab: "t1",
      url: "https://shop.example/search?q=herring",
      title: "herring - Shop",
      navigated: true,
      status: 200,
      new_tabs: [],
      downloads: [],
      failed_requests: [],
      settled: true,
    },
  ],
  ListPageTools: [{ tab: "t1" }],
  PageTools: [
    {
      tab: "t1",
      url: "https://shop.example/",
      title: "Shop",
      tools: [
        {
          name: "search_products",
          description: "Search the shop.",
          input_schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
          origin: "https://shop.example",
          main_frame: true,
          read_only: true,
          consequential: false,
          untrusted_content: false,
        },
      ],
      left_out: 0,
    },
  ],
  CallPageTool: [{ name: "search_products", arguments: { query: "herring" } }],
  PageToolResult: [
    {
      name: "search_products",
      origin: "https://shop.example",
      result: { content: [{ type: "text", text: "2 products" }] },
      is_error: false,
      tab: "t1",
      url: "https://shop.example/",
      title: "Shop",
    },
  ],
  RenderPage: [
    {
      url: "https://shop.example/",
      wait_for: { selector: ".price", state: "visible" },
      outputs: ["markdown", "links"],
      screenshot: { full_page: true, format: "webp", quality: 80 },
      timeout_ms: 30_000,
    },
  ],
  RenderedPage: [
    {
      session_id: ids.session,
      url: "https://shop.example/",
      status: 200,
      title: "Shop",
      redirects: [{ url: "http://shop.example/", status: 301 }],
      headers: { "content-type": "text/html; charset=utf-8" },
      dialogs: [],
      cut: [],
      timed_out: false,
      markdown: "# Shop\n\nFresh fish.",
      links: [{ url: "https://shop.example/fish", text: "Fish" }],
      screenshot: { content_type: "image/webp", data: "UklGRg==" },
    },
  ],
  CreateSearch: [
    {
      query: "fish recipes",
      language: "en",
      recency: "month",
      exclude_domains: ["ads.example"],
      max_results: 5,
      strategy: { type: "fallback", providers: [{ provider: "searxng" }, { provider: "brave" }] },
    },
  ],
  Search: [search],
  FetchSearchContents: [{ result_ids: ["r1"], content: { format: "markdown", max_chars: 5_000 } }],
  SearchContents: [
    {
      search_id: search.id,
      contents: [
        {
          result_id: "r1",
          url: "https://cook.example/fish",
          status: "ok",
          text: "# Baked fish",
          truncated: false,
          method: "browser_render",
          final_url: "https://cook.example/fish",
          http_status: 200,
          format: "markdown",
          fetched_at: times.created,
          cache_status: "miss",
        },
      ],
      usage: { provider_requests: 0, rendered_pages: 1 },
      warnings: [],
    },
  ],
  ReadPage: [{ content: "main", max_tokens: 10_000 }],
  PageText: [{ url: "https://shop.example/", title: "Shop", markdown: "# Shop\n\nFresh fish.", tokens: 7 }],
  PrintPage: [{ format: "A4" }],
  ScreenshotPage: [{ labels: true, format: "jpeg", max_width: 1024 }],
  ClickMouse: [{ x: 640, y: 400, button: "left", click_type: "click", num_clicks: 2 }],
  MoveMouse: [{ x: 640, y: 400, smooth: true, duration_ms: 250 }],
  DragMouse: [
    {
      path: [
        [100, 100],
        [300, 240],
      ],
      button: "left",
    },
  ],
  Scroll: [{ x: 640, y: 400, delta_y: 5 }],
  PressKey: [{ keys: ["Ctrl+a"] }],
  TypeText: [{ text: "hello", delay: 20 }],
  SetCursor: [{ hidden: true }],
  MousePosition: [{ x: 640, y: 400 }],
  ClipboardText: [{ text: "hello" }],
  WriteClipboard: [{ text: "hello" }],
  CaptureScreenshot: [{ region: { x: 0, y: 0, width: 640, height: 400 } }, {}],
  ComputerBatch: [
    {
      actions: [
        { type: "click_mouse", click_mouse: { x: 640, y: 400 } },
        { type: "sleep", sleep: { duration_ms: 200 } },
        { type: "type_text", type_text: { text: "hello" } },
      ],
    },
  ],
  ComputerBatchError: [{ code: "bad_request", message: 'Action 1 failed: unknown key "Hyper".', failed_action: 1 }],
  WaitForDownload: [{ after: "a51c2a9e-4c3c-4e0d-9f43-1d2a3f0c7b11", timeout_seconds: 30 }],
  BrowserDownload: [
    {
      download_id: "6f3ad4b2-7a1e-4f6c-8d5b-20c3e1a9d784",
      state: "completed",
      name: "report.pdf",
      path: "/home/shoal/Downloads/report.pdf",
      size_bytes: 18_204,
      received_bytes: 18_204,
      sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      origin_url: "https://example.com/files/report.pdf",
      started_at: times.created,
      finished_at: times.updated,
    },
  ],
  StartReplay: [{ framerate: 10, max_duration_in_seconds: 600 }],
  MarkReplay: [{ title: "Sign in" }],
  ReplayMark: [{ title: "Sign in", offset_seconds: 4.2 }],
  Snapshot: [
    {
      ...{ id: "s7q2m4c8x1v5b9n3h6j0k2wd", name: "signed in", session_id: ids.session, engine: "exact" },
      ...{ size_bytes: 48_211_300, paused_ms: 480 },
      compatibility: { placement: "sandbox", architecture: "x64", kernel: "6.12.0", chromium: "Chromium 156.0.1.2" },
      ...{ created_at: times.created, expires_at: times.later },
    },
  ],
  CreateSnapshot: [{ name: "signed in" }, { name: "half filled", stop: true }],
  NetworkRecording: [
    {
      ...{ id: "m3x1p0v2k7c9q5w8z6t4r2yh", session_id: ids.session, status: "complete" },
      ...{ size_bytes: 482_113, requests: 31, left_out: 0, truncated: false },
      ...{ created_at: times.created, finished_at: times.updated, expires_at: times.later },
    },
  ],
  Replay: [
    {
      replay_id: "rp_0c6c1d",
      started_at: times.created,
      finished_at: times.updated,
      replay_view_url: `http://127.0.0.1:7777/browser/replay/${ids.session}.rp_0c6c1d`,
      clock: { started_ts: 1_772_357_400_000_000 },
      marks: [{ title: "Sign in", offset_seconds: 4.2 }],
    },
  ],
  LogEvent: [{ event: "log", message: "[chromium] listening", timestamp: times.created }],
  TelemetryEnvelope: [
    {
      seq: 41,
      event: {
        ts: 1_772_357_400_000_000,
        type: "console_log",
        category: "console",
        source: { kind: "cdp", event: "Runtime.consoleAPICalled" },
        data: { level: "info", text: "cart loaded", url: "https://example.com/cart" },
      },
    },
    {
      seq: 42,
      event: {
        ts: 1_772_357_400_250_000,
        type: "page_load",
        category: "page",
        source: { kind: "cdp" },
        data: { url: "https://example.com/cart" },
      },
    },
  ],
} satisfies Examples;
