import { execFile } from "node:child_process";
import { chmodSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type McpProgram, startMcpPlayer } from "./mcp-player.ts";
import type { Move, Player } from "./player.ts";

const require = createRequire(import.meta.url);
const run = promisify(execFile);

export interface PlayerOptions {
  readonly directory: string;
  readonly executable: string;
}

/** `shoal mcp`, with the outlines of changes that its actions return. */
export function startShoal(
  directory: string,
  service: { readonly baseUrl: string; readonly apiKey: string },
): Promise<Player> {
  return startMcpPlayer({
    name: "Shoal",
    args: [join(dirname(require.resolve("@shoal/cli/package.json")), "dist/shoal.js"), "mcp", "--no-structured"],
    env: { SHOAL_BASE_URL: service.baseUrl, SHOAL_API_KEY: service.apiKey },
    directory,
    snapshot: "snapshot",
    navigate: "navigate",
    calls: shoalCalls,
    // References stay valid: newer texts come first.
    readable: (texts) =>
      texts
        .toReversed()
        .join("\n")
        .replaceAll(/^- .*$/gm, ""),
    title: async (call) => /^(.*?) — http/m.exec(await call("snapshot", {}))?.[1] ?? "",
  });
}

function shoalCalls({ keys, ref, text, to, verb }: Move): ReturnType<McpProgram["calls"]> {
  switch (verb) {
    case "rightclick":
      return [["click", { ref, button: "right" }]];
    case "fill":
      return [["fill", { ref, text }]];
    case "press":
      return [["press", { ref, keys }]];
    case "drag":
      return [["drag", { ref, to: { ref: to } }]];
    default:
      return [[verb, { ref }]];
  }
}

export function startPlaywrightMcp({ directory, executable }: PlayerOptions): Promise<Player> {
  const program = join(dirname(require.resolve("@playwright/mcp/package.json")), "cli.js");
  return startMcpPlayer({
    name: "@playwright/mcp",
    args: [
      program,
      "--headless",
      "--isolated",
      "--no-sandbox",
      "--executable-path",
      executable,
      "--output-dir",
      directory,
    ],
    directory,
    snapshot: "browser_snapshot",
    navigate: "browser_navigate",
    calls: playwrightCalls,
    readable: (texts) => texts.at(-1) ?? "",
    title: async (call) =>
      JSON.parse(
        /"(?:[^"\\]|\\.)*"/.exec(await call("browser_evaluate", { function: "() => document.title" }))?.[0] ?? '""',
      ) as string,
  });
}

/** It has no tool to focus an element: a script does it. */
function playwrightCalls({ keys, ref, text, to, verb }: Move): ReturnType<McpProgram["calls"]> {
  const element = "element";
  switch (verb) {
    case "rightclick":
      return [["browser_click", { element, target: ref, button: "right" }]];
    case "fill":
      return [["browser_type", { element, target: ref, text }]];
    case "press":
      return [
        ["browser_evaluate", { element, target: ref, function: "(element) => element.focus()" }],
        ...keys.map((key) => ["browser_press_key", { key }] as const),
      ];
    case "hover":
      return [["browser_hover", { element, target: ref }]];
    case "drag":
      return [["browser_drag", { startElement: element, startTarget: ref, endElement: element, endTarget: to }]];
    default:
      return [["browser_click", { element, target: ref }]];
  }
}

/** The command of agent-browser, whose daemon keeps the browser. Its skill recommends `snapshot -i`. */
export function startAgentBrowser({ executable }: PlayerOptions, modules: string): Player {
  const program = join(modules, `agent-browser/bin/agent-browser-${process.platform}-${process.arch}`);
  chmodSync(program, 0o755);
  const session = `shoal-bench-${String(process.pid)}`;
  const command = async (...args: string[]): Promise<string> => {
    const given = ["--session", session, "--executable-path", executable, "--args", "--no-sandbox", ...args];
    const { stdout } = await run(program, given, { timeout: 60_000 });
    return stdout;
  };
  return {
    name: "agent-browser",
    open: (url) => command("open", url),
    observe: () => command("snapshot", "-i"),
    async act({ keys, ref, text, to, verb }) {
      const texts: string[] = [];
      if (verb === "press") {
        texts.push(await command("focus", `@${ref}`));
        for (const key of keys) texts.push(await command("press", key));
      } else if (verb === "rightclick") texts.push(await rightClick(command, ref));
      else
        texts.push(await command(verb, `@${ref}`, ...(verb === "fill" ? [text] : verb === "drag" ? [`@${to}`] : [])));
      return texts.join("");
    },
    title: async () => (await command("get", "title")).trim(),
    readable: (texts) => texts.at(-1) ?? "",
    async [Symbol.asyncDispose]() {
      await command("close").catch(() => "");
    },
  };
}

/** It has no right click on an element: the mouse moves to the middle of its box. */
async function rightClick(command: (...args: string[]) => Promise<string>, ref: string): Promise<string> {
  const box = JSON.parse(await command("get", "box", `@${ref}`, "--json")) as {
    readonly data: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  };
  const { height, width, x, y } = box.data;
  await command("mouse", "move", String(Math.round(x + width / 2)), String(Math.round(y + height / 2)));
  await command("mouse", "down", "right");
  return command("mouse", "up", "right");
}
