import { emitImage, write } from "./repl-output.ts";
import type { ToolFunctions } from "./tool-functions.ts";
import type { AskInstance } from "./worker-channel.ts";

/** By name: how it is called, and what it does. A target is a selector, a node of a snapshot, or `{x, y}`. */
export const manual: Readonly<Record<string, readonly [call: string, purpose: string]>> = {
  "repl.help": ["repl.help(name?)", "Shows this list, or one entry of it."],
  "repl.write": ["repl.write(value)", "Adds a text to the answer; other values as Node prints them."],
  "repl.emitImage": ["repl.emitImage({ path })", "Adds a picture to the answer: PNG, JPEG, GIF or WebP."],
  gotoUrl: [
    "await gotoUrl(url, { timeoutSec: 30 })",
    "Opens an address in the current tab. Returns url, title and status.",
  ],
  pageInfo: [
    "await pageInfo()",
    "Returns url, title, the sizes w and h of the window, sx and sy scrolled, pw and ph of the page; or url and the open dialog.",
  ],
  accessibilitySnapshot: [
    "await accessibilitySnapshot()",
    "Returns title, url and nodes with role, name and ref. Nodes are targets until the next snapshot.",
  ],
  waitMs: ["await waitMs(milliseconds)", "Waits."],
  waitForLoad: ["await waitForLoad({ timeoutSec: 15 })", "Waits until the page has loaded. Returns whether it has."],
  waitForElement: [
    "await waitForElement(target, { state: 'visible', timeoutSec: 10 })",
    "Waits until it is visible, hidden, attached or detached. Returns whether it is.",
  ],
  waitForNetworkIdle: [
    "await waitForNetworkIdle({ timeoutSec: 10 })",
    "Waits for half a second without requests. Returns whether it came.",
  ],
  waitForEvent: [
    "await waitForEvent(method, { timeoutSec: 30 })",
    "Waits for an event of CDP in the current tab. Returns its params. Enable the domain first.",
  ],
  click: [
    "await click(target, { button: 'left', clickCount: 1, timeoutSec: 10 })",
    "Waits until the target is visible, still, enabled and uncovered, and clicks with the mouse.",
  ],
  fillInput: ["await fillInput(target, text)", "Replaces the value of a field."],
  typeText: ["await typeText(text)", "Types into the focused element."],
  pressKey: ["await pressKey('Enter')", "Presses a key, or several: 'Control+A'."],
  scroll: [
    "await scroll({ dy: 300, dx: 0, x, y })",
    "Turns the mouse wheel, in the middle of the window or at a point.",
  ],
  uploadFile: ["await uploadFile(target, path)", "Chooses one file, or several, for a file field."],
  js: [
    "await js(fn, { arg, targetId })",
    "Evaluates a function or an expression in the current tab, in another one, or in a frame of another process.",
  ],
  listTabs: ["await listTabs()", "Returns targetId, url and title of each tab."],
  currentTab: ["await currentTab()", "Returns targetId, url and title of the tab that the helpers use."],
  switchTab: ["await switchTab(targetId)", "Brings a tab to the front, and uses it."],
  newTab: ["await newTab(url?)", "Opens a tab, and uses it. Returns its targetId."],
  closeTab: ["await closeTab(targetId?)", "Closes a tab; the current one without a targetId."],
  ensureRealTab: ["await ensureRealTab()", "Uses a tab with a page of the web; opens a tab if no tab has one."],
  iframeTarget: [
    "await iframeTarget(part)",
    "Returns the targetId of a frame in another process whose address contains the text, or null.",
  ],
  cdp: [
    "await cdp(method, params)",
    "Sends a command of CDP to the current tab; Browser, Target and SystemInfo to the browser.",
  ],
  drainEvents: ["drainEvents()", "Returns the latest events of CDP, at most 1,000, and forgets them."],
  captureScreenshot: [
    "await captureScreenshot(path, full = false, maxDim?)",
    "Writes a PNG, with the longest side maxDim. Returns the path.",
  ],
  "webmcp.listTools": ["await webmcp.listTools()", "Returns the tools of all tabs, with a tool_ref each."],
  "webmcp.invokeTool": [
    "await webmcp.invokeTool(ref, input = {}, { timeoutSec: 60 })",
    "Calls a tool. Returns invocation_id, status, and output or error_text.",
  ],
  "webmcp.addCustomTools": [
    "await webmcp.addCustomTools({ namespace, tools, forceOverwriteNamespace: false })",
    "Adds tools { kind, match: { url_patterns }, tool, execute } to the session. Returns them with their ids.",
  ],
  "webmcp.listCustomTools": ["await webmcp.listCustomTools()", "Returns the tools that were added."],
  "webmcp.removeCustomTool": ["await webmcp.removeCustomTool(id)", "Removes a tool. Returns whether there was one."],
  httpGet: ["await httpGet(url, { headers, timeoutSec: 20 })", "Returns the body of a response, without the browser."],
};

function help(name?: string): void {
  const entries = Object.entries(manual).filter(
    ([known]) => name === undefined || known === name || known === `repl.${name}`,
  );
  if (entries.length === 0) throw new Error(`No helper is named ${String(name)}. repl.help() lists them.`);
  write(entries.map(([, [call, purpose]]) => `${call}\n  ${purpose}`).join("\n"));
}

export function replGlobals() {
  return { repl: Object.freeze({ help, write, emitImage }) };
}

/** Tools of pages, and custom ones. Errors have `statusCode`, `code`, `invocationId` and `body`. */
export function webMcpOf(ask: AskInstance, functions: ToolFunctions) {
  return Object.freeze({
    listTools: async () => ((await ask("listTools", {})) as { readonly tools: unknown }).tools,
    invokeTool: (ref: string, input: object = {}, { timeoutSec = 60 }: { readonly timeoutSec?: number } = {}) =>
      ask("invokeTool", { tool_ref: ref, input, timeout_sec: timeoutSec }),
    addCustomTools: (addition: Parameters<ToolFunctions["add"]>[0]) => functions.add(addition),
    listCustomTools: () => ask("listCustomTools", {}),
    removeCustomTool: (id: string) => ask("removeCustomTool", { id }),
  });
}
