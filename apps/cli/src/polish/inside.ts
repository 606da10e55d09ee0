import type { Polish } from "../polish.ts";

const exampleProcess = "r2ld2qsdq1lxu8t1gq0ptljv";
const exampleReplay = "v9j6sv5fjr4tqk4k4xmmvhbz";
const holdKeys = { hold_keys: "--hold-key" } as const;

/** What is done inside a session: mouse and keyboard, programs, Playwright, recordings, logs, telemetry. */
export const insidePolish: Readonly<Record<string, Polish>> = {
  "browsers.computer.clickMouse": {
    flags: holdKeys,
    done: "Clicked.",
    examples: [
      "shoal browsers computer click-mouse research --x 100 --y 200",
      "shoal browsers computer click-mouse research --x 100 --y 200 --button right --hold-key Shift",
    ],
  },
  "browsers.computer.moveMouse": { flags: holdKeys, done: "Moved.", examples: ["shoal browsers computer move-mouse research --x 100 --y 200"] },
  "browsers.computer.dragMouse": {
    flags: holdKeys,
    done: "Dragged.",
    examples: ["shoal browsers computer drag-mouse research --path '[[100,200],[300,400]]'"],
  },
  "browsers.computer.scroll": {
    flags: holdKeys,
    done: "Scrolled.",
    examples: ["shoal browsers computer scroll research --x 400 --y 300 --delta-y 5"],
  },
  "browsers.computer.pressKey": {
    rest: "keys",
    flags: holdKeys,
    done: "Pressed.",
    examples: ["shoal browsers computer press-key research Return", "shoal browsers computer press-key research Ctrl+a --duration 200"],
  },
  "browsers.computer.typeText": {
    words: ["browsers", "computer", "type"],
    arguments: ["text"],
    done: "Typed.",
    examples: ["shoal browsers computer type research 'hello world'"],
  },
  "browsers.computer.setCursorVisibility": {
    words: ["browsers", "computer", "set-cursor"],
    examples: ["shoal browsers computer set-cursor research --hidden", "shoal browsers computer set-cursor research --no-hidden"],
  },
  "browsers.computer.getMousePosition": { examples: ["shoal browsers computer get-mouse-position research"] },
  "browsers.computer.readClipboard": { text: "text", examples: ["shoal browsers computer read-clipboard research"] },
  "browsers.computer.writeClipboard": {
    arguments: ["text"],
    done: "Copied.",
    examples: ["shoal browsers computer write-clipboard research 'some text'"],
  },
  "browsers.computer.batch": {
    done: "Done.",
    examples: [
      `shoal browsers computer batch research --actions '[{"type":"click_mouse","click_mouse":{"x":10,"y":20}}]'`,
      "shoal browsers computer batch research --actions @actions.json",
    ],
  },
  "browsers.computer.captureScreenshot": {
    words: ["browsers", "computer", "screenshot"],
    flags: { "region.x": "--x", "region.y": "--y", "region.width": "--width", "region.height": "--height" },
    examples: [
      "shoal browsers computer screenshot research -f page.png",
      "shoal browsers computer screenshot research --x 0 --y 0 --width 400 --height 300 -f corner.png",
    ],
  },
  "browsers.process.exec": {
    arguments: ["command"],
    rest: "args",
    examples: [
      "shoal browsers process exec research -- ls -la /home/shoal",
      "shoal browsers process exec research --cwd /tmp --env A=1 -- sh -c 'echo $A'",
    ],
  },
  "browsers.process.spawn": {
    arguments: ["command"],
    rest: "args",
    examples: [
      "shoal browsers process spawn research -- tail -f /home/shoal/app.log",
      "shoal browsers process spawn research --allocate-tty --cols 80 --rows 24 -- bash",
    ],
  },
  "browsers.process.status": {
    watch: { field: "state", until: ["exited"] },
    examples: [`shoal browsers process status research ${exampleProcess}`, `shoal browsers process status research ${exampleProcess} --watch`],
  },
  "browsers.process.kill": {
    examples: [`shoal browsers process kill research ${exampleProcess}`, `shoal browsers process kill research ${exampleProcess} --signal KILL`],
  },
  "browsers.process.resize": { examples: [`shoal browsers process resize research ${exampleProcess} --cols 120 --rows 40`] },
  "browsers.process.stdin": { examples: [`shoal browsers process stdin research ${exampleProcess} --data-b64 $(echo hello | base64)`] },
  "browsers.process.stdoutStream": { examples: [`shoal browsers process stdout-stream research ${exampleProcess}`] },
  "browsers.playwright.execute": {
    arguments: ["code"],
    first: ["success", "result"],
    examples: [
      "shoal browsers playwright execute research 'return await page.title()'",
      "shoal browsers playwright execute research - < script.ts",
      "shoal browsers playwright execute research 'return page.url()' --query result",
    ],
  },
  "browsers.logs.stream": {
    examples: [
      "shoal browsers logs stream research --source supervisor --supervisor-process chromium",
      "shoal browsers logs stream research --source path --path /home/shoal/app.log --no-follow",
    ],
  },
  "browsers.replays.start": { examples: ["shoal browsers replays start research --framerate 10"] },
  "browsers.replays.stop": { done: "Stopped recording {1}.", examples: [`shoal browsers replays stop research ${exampleReplay}`] },
  "browsers.replays.list": {
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
    nothing: "The recording is still being written.",
    examples: [`shoal browsers replays download research ${exampleReplay} -f session.mp4`],
  },
  "browsers.telemetry.events": {
    columns: [
      ["SEQ", "seq"],
      ["EVENT", "event"],
    ],
    flags: { category: "--category" },
    empty: "No events.",
    examples: ["shoal browsers telemetry events research", "shoal browsers telemetry events research --category network --query '[].event.type'"],
  },
  "browsers.telemetry.stream": {
    silentWithout: {
      operation: "browsers.get",
      field: "telemetry",
      notice: `This session captures no telemetry, so nothing is printed. Turn it on: shoal browsers update {0} --telemetry '{"enabled":true}'`,
    },
    examples: ["shoal browsers telemetry stream research", "shoal browsers telemetry stream research -o jsonl | jq -r .event.type"],
  },
  "browsers.curl": {
    arguments: ["url"],
    flags: { method: "-X, --request", headers: "-H, --header", body: "-d, --data" },
    text: "body",
    examples: [
      "shoal browsers curl research https://example.com",
      `shoal browsers curl research https://example.com/api -X POST -H content-type=application/json -d '{"a":1}'`,
      "shoal browsers curl research https://example.com --query status",
    ],
  },
  "browsers.loadExtensions": { words: ["browsers", "extensions", "upload"] },
};
