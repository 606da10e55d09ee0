import { ids, times, type Examples } from "./example.ts";

const base64 = (text: string) => btoa(text);
const processId = "1f0cf6c6-6f4d-4a53-8b3e-0d8c2f0f7c11";

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
  PlaywrightResult: [{ success: true, result: "Example Domain", stdout: "", stderr: "" }],
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
