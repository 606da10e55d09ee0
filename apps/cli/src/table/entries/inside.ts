import type { CommandEntry } from "../../core/types.ts";

const exampleProcess = "r2ld2qsdq1lxu8t1gq0ptljv";
const exampleSession = "k3v8d1m6q0x2s9w7b4t5y6zh";
const exampleDownload = "6f3ad4b2-7a1e-4f6c-8d5b-20c3e1a9d784";
const exampleReplay = "v9j6sv5fjr4tqk4k4xmmvhbz";
const holdKeys = { hold_keys: "--hold-key" } as const;

export const insideEntries: Readonly<Record<string, CommandEntry>> = {
  "browsers.computer.clickMouse": {
    summary: "Click the mouse",
    about: "Moves the pointer and clicks.",
    flags: holdKeys,
    done: "Clicked.",
    examples: [
      "shoal browsers computer click-mouse research --x 100 --y 200",
      "shoal browsers computer click-mouse research --x 100 --y 200 --button right --hold-key Shift",
    ],
  },
  "browsers.computer.moveMouse": {
    summary: "Move the mouse",
    about: "Returns when the pointer has arrived.",
    help: { duration_ms: "Milliseconds for the movement, 50 to 5000; default: depends on the distance" },
    flags: holdKeys,
    done: "Moved.",
    examples: ["shoal browsers computer move-mouse research --x 100 --y 200"],
  },
  "browsers.computer.dragMouse": {
    summary: "Drag with the mouse",
    about: "Presses the button at the first point, moves along the others and releases it at the last point.",
    help: {
      path: "Points [[x,y],…] in pixels, 2 to 1000",
      delay: "Milliseconds between pressing the button and moving, up to 10000",
    },
    flags: holdKeys,
    done: "Dragged.",
    examples: ["shoal browsers computer drag-mouse research --path '[[100,200],[300,400]]'"],
  },
  "browsers.computer.scroll": {
    summary: "Scroll with the mouse wheel",
    flags: holdKeys,
    done: "Scrolled.",
    examples: ["shoal browsers computer scroll research --x 400 --y 300 --delta-y 5"],
  },
  "browsers.computer.pressKey": {
    summary: "Press keys",
    about: "Takes keys and chords by name, independent of the keyboard layout.",
    rest: "keys",
    flags: holdKeys,
    done: "Pressed.",
    examples: [
      "shoal browsers computer press-key research Return",
      "shoal browsers computer press-key research Ctrl+a --duration 200",
    ],
  },
  "browsers.computer.typeText": {
    summary: "Type text",
    about: "Types into the focused element.",
    help: { text: "Text to type, up to 100000 characters", delay: "Milliseconds between characters, up to 10000" },
    words: ["browsers", "computer", "type"],
    arguments: ["text"],
    done: "Typed.",
    examples: ["shoal browsers computer type research 'hello world'"],
  },
  "browsers.computer.setCursorVisibility": {
    summary: "Show or hide the pointer",
    about: "Applies to the screen, screenshots and recordings. A headless browser has no pointer.",
    words: ["browsers", "computer", "set-cursor"],
    examples: [
      "shoal browsers computer set-cursor research --hidden",
      "shoal browsers computer set-cursor research --no-hidden",
    ],
  },
  "browsers.computer.getMousePosition": {
    summary: "Show the position of the pointer",
    examples: ["shoal browsers computer get-mouse-position research"],
  },
  "browsers.computer.readClipboard": {
    summary: "Print the text in the clipboard",
    text: "text",
    examples: ["shoal browsers computer read-clipboard research"],
  },
  "browsers.computer.writeClipboard": {
    summary: "Write text to the clipboard",
    about: "Replaces the content of the clipboard.",
    arguments: ["text"],
    done: "Copied.",
    examples: ["shoal browsers computer write-clipboard research 'some text'"],
  },
  "browsers.computer.batch": {
    summary: "Run several actions in order",
    about: "Stops at the first action that fails.",
    done: "Done.",
    examples: [
      `shoal browsers computer batch research --actions '[{"type":"click_mouse","click_mouse":{"x":10,"y":20}}]'`,
      "shoal browsers computer batch research --actions @actions.json",
    ],
  },
  "browsers.computer.captureScreenshot": {
    summary: "Take a screenshot",
    about: "Shows the visible page of a headless session, or the whole screen of a session with a window.",
    words: ["browsers", "computer", "screenshot"],
    flags: { "region.x": "--x", "region.y": "--y", "region.width": "--width", "region.height": "--height" },
    examples: [
      "shoal browsers computer screenshot research -f page.png",
      "shoal browsers computer screenshot research --x 0 --y 0 --width 400 --height 300 -f corner.png",
    ],
  },
  "browsers.process.exec": {
    summary: "Run a command and wait for it",
    about:
      "Prints the command's output and exits with its status. Stdin is empty. The command is killed with all its children when you press Ctrl-C, or after 16 MiB of output; for longer output use shoal browsers process spawn.",
    help: { timeout_sec: "Kill the command after this many seconds, up to 259200 (72 hours); default: no limit" },
    outcome: "process",
    arguments: ["command"],
    rest: "args",
    examples: [
      "shoal browsers process exec research -- ls -la /home/shoal",
      "shoal browsers process exec research --cwd /tmp --env A=1 -- sh -c 'echo $A'",
    ],
  },
  "browsers.process.spawn": {
    summary: "Start a process in the background",
    about:
      "The process runs until it ends, is killed, or the session ends. Limits: 200 processes at once, 10,000 per session.",
    help: { timeout_sec: "Kill the process after this many seconds, up to 259200 (72 hours); default: no limit" },
    arguments: ["command"],
    rest: "args",
    examples: [
      "shoal browsers process spawn research -- tail -f /home/shoal/app.log",
      "shoal browsers process spawn research --allocate-tty --cols 80 --rows 24 -- bash",
    ],
  },
  "browsers.process.list": {
    summary: "List processes",
    about:
      "Processes started with shoal browsers process spawn: running ones first. Their short list for the current session: shoal ps.",
    columns: [
      ["ID", "process_id"],
      ["PID", "pid"],
      ["STATE", "state"],
      ["EXIT", "exit_code"],
      ["CPU %", "cpu_pct"],
      ["MEMORY", "mem_bytes"],
      ["STARTED", "started_at"],
      ["COMMAND", "command"],
    ],
    empty: "No processes. Start one: shoal browsers process spawn",
    examples: ["shoal browsers process list research", "shoal browsers process list research --all"],
  },
  "browsers.process.status": {
    summary: "Show the state of a process",
    about: "Also works after the process has ended.",
    watch: { field: "state", until: ["exited"] },
    examples: [
      `shoal browsers process status research ${exampleProcess}`,
      `shoal browsers process status research ${exampleProcess} --watch`,
    ],
  },
  "browsers.process.kill": {
    summary: "Send a signal to a process",
    about: "The signal also goes to the children of the process.",
    examples: [
      `shoal browsers process kill research ${exampleProcess}`,
      `shoal browsers process kill research ${exampleProcess} --signal KILL`,
    ],
  },
  "browsers.process.resize": {
    summary: "Resize the terminal of a process",
    about: "The process must have been started with --allocate-tty.",
    help: { rows: "Rows of the terminal, 1 to 65535", cols: "Columns of the terminal, 1 to 65535" },
    examples: [`shoal browsers process resize research ${exampleProcess} --cols 120 --rows 40`],
  },
  "browsers.process.stdin": {
    summary: "Write to the stdin of a process",
    about:
      "Returns when the process has read the bytes, or after 10 seconds. The result then has the number of bytes written.",
    examples: [`shoal browsers process stdin research ${exampleProcess} --data-b64 $(echo hello | base64)`],
  },
  "browsers.process.stdoutStream": {
    summary: "Follow the output of a process",
    about:
      "Writes stdout and stderr, each to its own stream, from the oldest buffered output on (the last 4 MiB). Exits when the process ends.",
    examples: [`shoal browsers process stdout-stream research ${exampleProcess}`],
  },
  "browsers.playwright.execute": {
    summary: "Run Playwright code",
    about:
      "Runs the code next to the browser, in a new scope for each call, and prints what it returns. The command fails if the code throws.",
    help: {
      timeout_sec: "Stop the code after this many seconds, 1 to 300",
      executor: "Use the tab of this executor, and run its calls one after another",
    },
    arguments: ["code"],
    stdin: "code",
    outcome: "code",
    first: ["success", "result"],
    examples: [
      "shoal browsers playwright execute research 'return await page.title()'",
      "shoal browsers playwright execute research - < script.ts",
      "shoal browsers playwright execute research 'return page.url()' --query result",
    ],
  },
  "browsers.repl": {
    summary: "Run JavaScript in a process that stays",
    about:
      "Variables, functions and timers stay for later calls. The code prints with repl.write and console.log; repl.help() lists its functions for the browser. The command fails if the code throws.",
    help: {
      reset: "End the process with its state first",
      timeout_sec: "End the process after this many seconds, 1 to 300",
    },
    arguments: ["code"],
    stdin: "code",
    outcome: "repl",
    first: ["success", "content"],
    examples: [
      "shoal browsers repl research 'repl.help()'",
      `shoal browsers repl research 'await gotoUrl("https://example.com"); repl.write(await pageInfo())'`,
      "shoal browsers repl research - < script.js",
    ],
  },
  "browsers.playwright.executors.list": {
    summary: "List Playwright executors",
    about: "An executor is a name for Playwright code, with a tab that stays between calls.",
    raw: true,
    examples: ["shoal browsers playwright executors list research"],
  },
  "browsers.playwright.executors.delete": {
    summary: "Delete a Playwright executor",
    about: "Ends its calls. The executor default stays: only its running calls end.",
    help: { close_tab: "Close its tab as well" },
    confirm: "End the calls of executor {1}, and delete it?",
    examples: ["shoal browsers playwright executors delete research checkout --close-tab"],
  },
  "browsers.logs.stream": {
    summary: "Follow a log",
    about:
      "Follows a log file through rotation and truncation, or the output of a process of the session. Lines over 64 KiB are split.",
    help: { path: "Absolute path of a file in the session, with --source path" },
    examples: [
      "shoal browsers logs stream research --source supervisor --supervisor-process chromium",
      "shoal browsers logs stream research --source path --path /home/shoal/app.log --no-follow",
    ],
  },
  "browsers.downloads.list": {
    summary: "List downloads",
    about: "Newest first. After the end of the session, the downloads that the service kept.",
    columns: [
      ["ID", "download_id"],
      ["STATE", "state"],
      ["NAME", "name"],
      ["BYTES", "received_bytes"],
      ["FINISHED", "finished_at"],
    ],
    empty: "No downloads.",
    watch: { field: "state", until: [] },
    examples: ["shoal browsers downloads list research", "shoal browsers downloads list research --watch"],
  },
  "browsers.downloads.wait": {
    summary: "Wait for a finished download",
    about: "Returns the first finished download of the session, or the next one after --after.",
    help: {
      after: "ID of a finished download: wait for the next one",
      timeout_seconds: "Seconds to wait, 0 to 50",
    },
    flags: { timeout_seconds: "-t, --timeout-seconds" },
    first: ["download_id", "state", "path"],
    nothing: "No download finished in time. Try again.",
    examples: [
      "shoal browsers downloads wait research",
      `shoal browsers downloads wait research --after ${exampleDownload} --query path`,
    ],
  },
  "browsers.downloads.get": {
    summary: "Show a download",
    about: "Also while it runs.",
    examples: [`shoal browsers downloads get research ${exampleDownload}`],
  },
  "browsers.downloads.read": {
    summary: "Save the file of a download",
    about: "After the end of the session, the file that the service kept.",
    examples: [`shoal browsers downloads read research ${exampleDownload} -f report.pdf`],
  },
  "browsers.replays.start": {
    summary: "Record the screen",
    about:
      "The recording ends with shoal browsers replays stop, at its maximum duration, or with the session. Several recordings can run at once.",
    examples: ["shoal browsers replays start research --framerate 10"],
  },
  "browsers.replays.stop": {
    summary: "Stop a recording",
    about:
      "Stopping a finished recording changes nothing. A recording that default_recording started ends with its session.",
    done: "Stopped recording {1}.",
    examples: [`shoal browsers replays stop research ${exampleReplay}`],
  },
  "browsers.replays.list": {
    summary: "List recordings",
    about: "Running and finished recordings, oldest first.",
    columns: [
      ["ID", "replay_id"],
      ["STARTED", "started_at"],
      ["FINISHED", "finished_at"],
    ],
    empty: "No recordings. Start one: shoal browsers replays start ID",
    watch: { field: "status", until: [] },
    examples: ["shoal browsers replays list research", "shoal browsers replays list research --watch"],
  },
  "browsers.replays.download": {
    summary: "Download a recording",
    about: "MP4 (H.264). If the file is still being written, try again later.",
    nothing: "The recording is still being written.",
    examples: [`shoal browsers replays download research ${exampleReplay} -f session.mp4`],
  },
  "browsers.telemetry.events": {
    summary: "List past telemetry events",
    about: "Also works after the session has ended.",
    help: {
      order: "asc: oldest first; desc: newest first, as one page and without --since",
      since: "Start time (2026-01-31T12:00:00Z) or how long ago (30s, 5m, 2h); default: 5m",
      offset: "Continue at this position, as printed below the previous page",
      limit: "Events per page, 1 to 100",
    },
    rows: "events",
    flags: { category: "--category" },
    empty: "No events.",
    examples: [
      "shoal browsers telemetry events research",
      "shoal browsers telemetry events research --category console,network --since 1h",
      "shoal browsers telemetry events research --category network --query '[].event.type'",
    ],
  },
  "browsers.evidence": {
    summary: "Download the evidence of a session as one archive",
    help: { include: "Only these parts: telemetry, har, trace, outlines, pictures, recordings, downloads" },
    about:
      "Contains telemetry, requests as HAR, pictures, recordings and downloads, with a signed manifest. Check it with shoal evidence verify.",
    examples: [
      "shoal browsers evidence research -f evidence.zip",
      `shoal browsers evidence ${exampleSession} --include telemetry,har -f evidence.zip`,
    ],
  },
  "browsers.telemetry.lastPicture": {
    summary: "Download the last picture of an ended session",
    about: "A JPEG of the front page at the end, if telemetry captured the category page.",
    examples: [`shoal browsers telemetry last-picture ${exampleSession} -f last.jpg`],
  },
  "browsers.telemetry.stream": {
    summary: "Follow telemetry events",
    about: "Starts with the next event unless --replay is given. Ends with the session.",
    silentWithout: {
      operation: "browsers.get",
      field: "telemetry",
      notice: `This session captures no telemetry, so this stream stays empty. Turn it on: shoal browsers update {0} --telemetry '{"enabled":true}'`,
    },
    examples: [
      "shoal browsers telemetry stream research",
      "shoal browsers telemetry stream research -o jsonl | jq -r .event.type",
    ],
  },
  "browsers.curl": {
    summary: "Send an HTTP request through the browser",
    about: "Uses the browser's cookies, TLS and proxy, and follows redirects.",
    help: { url: "http:// or https:// URL", headers: "Request header", body: "Request body" },
    arguments: ["url"],
    flags: { method: "-X, --request", headers: "-H, --header", body: "-d, --data" },
    text: "body",
    examples: [
      "shoal browsers curl research https://example.com",
      `shoal browsers curl research https://example.com/api -X POST -H content-type=application/json -d '{"a":1}'`,
      "shoal browsers curl research https://example.com --query status",
    ],
  },
  "browsers.loadExtensions": { words: ["browsers", "extensions", "upload"], handwritten: true },
  "browsers.replays.mark": {
    summary: "Add a chapter to a recording",
    about: "The replay page lists chapters next to the video. Limit: 500 chapters.",
  },
};
