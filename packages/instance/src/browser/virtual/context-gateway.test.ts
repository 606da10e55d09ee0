import browserProtocol from "devtools-protocol/json/browser_protocol.json" with { type: "json" };
import jsProtocol from "devtools-protocol/json/js_protocol.json" with { type: "json" };
import fc from "fast-check";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { ContextGateway } from "./context-gateway.ts";
import { eventEndsOf } from "./message-ends.ts";
import { OwnTargets } from "./own-targets.ts";
import { pageMethods } from "./page-methods.ts";

const root = mkdtempSync(join(tmpdir(), "shoal-context-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly sessionId?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

const contexts: Readonly<Record<string, string>> = { OWN: "own", FOREIGN: "foreign" };
const info = (targetId: string, type = "page") => ({ targetId, type, browserContextId: contexts[targetId] });

/** Knows targets of two contexts, as the shared browser does. */
const owner = {
  async send(method: string, { targetId }: { readonly targetId: string }) {
    if (method === "Target.getTargetInfo") return { targetInfo: info(targetId) };
    return { targetInfos: [] };
  },
} as unknown as CdpConnection;

function open() {
  const toBrowser: Message[] = [];
  const toClient: Message[] = [];
  const excesses: string[] = [];
  const gateway = new ContextGateway({
    scope: { contextId: "own", root, targets: new OwnTargets(owner, "own") },
    toBrowser: (text) => toBrowser.push(JSON.parse(text) as Message),
    toClient: (text) => toClient.push(JSON.parse(text) as Message),
    onExcess: (reason) => excesses.push(reason),
  });
  const command = (message: object | string) => {
    gateway.command(typeof message === "string" ? message : JSON.stringify(message));
  };
  const browser = (message: object) => {
    gateway.message(JSON.stringify(message));
  };
  const attach = (targetId: string, sessionId: string, waitingForDebugger = false) => {
    browser({
      method: "Target.attachedToTarget",
      params: { sessionId, targetInfo: info(targetId), waitingForDebugger },
    });
  };
  return { attach, browser, command, excesses, toBrowser, toClient };
}

describe("commands", () => {
  it("adds the own context to commands for the default one, and refuses another", () => {
    const { command, toBrowser, toClient } = open();
    for (const [id, method] of ["Storage.getCookies", "Browser.resetPermissions", "Target.createTarget"].entries())
      command({ id, method, params: {} });
    expect(toBrowser.map(({ params }) => params?.browserContextId)).toEqual(["own", "own", "own"]);
    command({ id: 9, method: "Storage.getCookies", params: { browserContextId: "foreign" } });
    expect(toBrowser).toHaveLength(3);
    expect(toClient).toMatchObject([{ id: 9, error: { code: -32602 } }]);
  });

  it("looks unknown targets up, keeps the order of commands, and answers for foreign ones as for missing ones", async () => {
    const { command, toBrowser, toClient } = open();
    command({ id: 1, method: "Target.closeTarget", params: { targetId: "OWN" } });
    command({ id: 2, method: "Browser.getVersion" });
    expect(toBrowser).toEqual([]);
    await expect
      .poll(() => toBrowser.map(({ method }) => method))
      .toEqual(["Target.closeTarget", "Browser.getVersion"]);
    for (const [id, targetId] of ["FOREIGN", "MISSING"].entries())
      command({ id: 10 + id, method: "Target.attachToTarget", params: { targetId, flatten: true } });
    await expect.poll(() => toClient.length).toBe(2);
    expect(toClient[0]?.error).toEqual(toClient[1]?.error);
    expect(toBrowser).toHaveLength(2);
  });

  it("refuses commands in sessions that it has not seen, and those without flatten", () => {
    const { attach, command, toBrowser, toClient } = open();
    command({ id: 1, method: "Runtime.enable", sessionId: "GUESS" });
    attach("OWN", "S");
    command({
      id: 2,
      method: "Target.setAutoAttach",
      params: { autoAttach: true, waitForDebuggerOnStart: true },
      sessionId: "S",
    });
    command({ id: 3, method: "Target.detachFromTarget", params: { sessionId: "GUESS" } });
    expect(toBrowser).toEqual([]);
    expect(toClient.flatMap(({ error }) => error?.code ?? [])).toEqual([-32001, -32602, -32602]);
  });

  it("reads the fields that the browser will read, also of a message with repeated ones", () => {
    const { command, toBrowser, toClient } = open();
    command('{"id":1,"method":"Tracing.start","method":"Browser.getVersion","extra":1}');
    expect(toBrowser).toMatchObject([{ method: "Browser.getVersion" }]);
    expect(toBrowser[0]).not.toHaveProperty("extra");
    command('{"id":2,"method":"Browser.getVersion","method":"Tracing.start"}');
    expect(toClient).toMatchObject([{ id: 2, error: { code: -32601 } }]);
  });

  it("passes only addresses of the web, and files of the session", () => {
    const { attach, command, toBrowser, toClient } = open();
    attach("OWN", "S");
    writeFileSync(join(root, "own.txt"), "");
    symlinkSync("/etc/passwd", join(root, "link"));
    const sessionId = "S";
    for (const url of [
      "file:///etc/passwd",
      "FILE:/x",
      " file:///x",
      "fi\nle:///x",
      "chrome://version",
      "view-source:http://x",
      "devtools://x",
      "x",
    ])
      command({ id: 1, method: "Page.navigate", params: { url }, sessionId });
    for (const files of [
      ["/etc/passwd"],
      [join(root, "link")],
      [join(root, "..")],
      [join(root, "own.txt"), "/etc/passwd"],
      "x",
      undefined,
    ])
      command({ id: 2, method: "DOM.setFileInputFiles", params: { files }, sessionId });
    command({ id: 3, method: "Browser.setDownloadBehavior", params: { behavior: "allow", downloadPath: "/tmp" } });
    command({ id: 4, method: "Input.dispatchDragEvent", params: { data: { files: ["/etc/passwd"] } }, sessionId });
    expect(toBrowser).toEqual([]);
    expect(toClient.filter(({ error }) => error !== undefined)).toHaveLength(16);
    command({ id: 5, method: "DOM.setFileInputFiles", params: { files: [join(root, "own.txt")] }, sessionId });
    command({ id: 6, method: "Page.navigate", params: { url: "https://example.com" }, sessionId });
    command({ id: 7, method: "Browser.setDownloadBehavior", params: { behavior: "allow", downloadPath: root } });
    expect(toBrowser).toHaveLength(3);
  });

  it("passes the keys of a keyboard, and refuses keys that may read the clipboard and unknown ones", () => {
    const { attach, command, toBrowser, toClient } = open();
    attach("OWN", "S");
    const key = (params: object) => {
      command({ id: 1, method: "Input.dispatchKeyEvent", params: { type: "rawKeyDown", ...params }, sessionId: "S" });
    };
    const pasting = [
      ...["Paste", "Open", "paste", "Foo", "F25", "ab"].map((name) => ({ key: name })),
      ...["Paste", "Open", "Foo"].map((code) => ({ code })),
      ...[2, 4, 10, 15, -1].flatMap((modifiers) => [
        { key: "v", modifiers },
        { code: "KeyV", modifiers },
        { windowsVirtualKeyCode: 86, modifiers },
      ]),
      ...[8, 12].map((modifiers) => ({ windowsVirtualKeyCode: 45, modifiers })),
      { key: 1 },
      { commands: "paste" },
      ...["Paste", "PasteAndMatchStyle", "pasteGlobalSelection", "yank", "insertFromPaste", " paste", 1].map(
        (name) => ({
          commands: ["selectAll", name],
        }),
      ),
    ];
    for (const params of pasting) key(params);
    expect(toBrowser).toEqual([]);
    expect(toClient.flatMap(({ error }) => error?.code ?? [])).toEqual(pasting.map(() => -32_090));
    const harmless = [
      ...["a", "é", "😀", "Enter", "F5", "Dead", "Process", "Unidentified", ""].map((name) => ({ key: name })),
      ...["", "KeyV", "NumpadAdd", "Numpad0", "F12", "ArrowLeft", "IntlYen", "MetaRight"].map((code) => ({ code })),
      { key: "c", code: "KeyC", windowsVirtualKeyCode: 67, modifiers: 2, commands: ["Copy"] },
      { key: "v", modifiers: 1 },
      { commands: ["moveToBeginningOfLineAndModifySelection", "insertNewline", "selectAll", "deleteWordBackward"] },
    ];
    for (const params of harmless) key(params);
    expect(toBrowser).toHaveLength(harmless.length);
  });

  it("presses no middle button, which pastes a selection of another session", () => {
    const { attach, command, toBrowser, toClient } = open();
    attach("OWN", "S");
    for (const method of ["Input.dispatchMouseEvent", "Input.emulateTouchFromMouseEvent"])
      for (const type of ["mousePressed", "mouseReleased"])
        command({ id: 1, method, params: { type, x: 1, y: 1, button: "middle" }, sessionId: "S" });
    expect(toBrowser).toEqual([]);
    expect(toClient.filter(({ error }) => error !== undefined)).toHaveLength(4);
    const left = { type: "mousePressed", x: 1, y: 1, button: "left" };
    command({ id: 2, method: "Input.dispatchMouseEvent", params: left, sessionId: "S" });
    expect(toBrowser).toHaveLength(1);
  });

  it("refuses every method of the protocol without a rule, and every unknown one", () => {
    const { attach, command, toBrowser, toClient } = open();
    attach("OWN", "S");
    const all = [...browserProtocol.domains, ...jsProtocol.domains].flatMap(({ commands, domain }) =>
      commands.map(({ name }) => `${domain}.${name}`),
    );
    for (const method of all) command({ id: 1, method });
    const passed = new Set(toBrowser.map(({ method }) => method ?? ""));
    expect([...passed].filter((method) => !/^(?:Browser|Target|Storage)\./.test(method))).toEqual([]);
    toBrowser.length = 0;
    for (const method of all) command({ id: 1, method, sessionId: "S" });
    const refused =
      /^(?:Tracing|SystemInfo|Extensions|Tethering|Cast|PWA|HeadlessExperimental|BackgroundService|DeviceAccess|BluetoothEmulation|FileSystem|Memory\.(?!getDOMCounters)|Browser\.(?:crash|close|getHist|executeBrowser)|Target\.(?:create|dispose)BrowserContext|Target\.(?:expose|sendMessage|setRemote))/;
    expect(toBrowser.filter(({ method = "" }) => refused.test(method))).toEqual([]);
    fc.assert(
      fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (method, params) => {
        fc.pre(!pageMethods.has(method));
        toBrowser.length = toClient.length = 0;
        command({ id: 1, method, params, sessionId: "S" });
        return toBrowser.length === 0 && toClient.length === 1;
      }),
    );
  });

  it("refuses invalid messages, and disconnects a client that exceeds a limit", () => {
    const { command, excesses, toBrowser, toClient } = open();
    for (const text of [
      "",
      "1",
      "[]",
      "{",
      '{"id":"1","method":"Browser.getVersion"}',
      '{"id":1,"method":1}',
      '{"id":1,"method":"Browser.getVersion","params":[]}',
      '{"id":1,"method":"Browser.getVersion","sessionId":1}',
    ])
      command(text);
    expect(toBrowser).toEqual([]);
    expect(toClient.every(({ error }) => error?.code === -32600)).toBe(true);
    command(`{"id":1,"method":"Browser.getVersion","params":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`);
    expect(excesses).toEqual(["a command is nested too deeply"]);
  });
});

describe("messages of the browser", () => {
  it("hides the targets of other contexts in answers", () => {
    const { browser, command, toBrowser, toClient } = open();
    command({ id: 7, method: "Target.getTargets", params: { filter: [{}] } });
    browser({
      id: toBrowser[0]?.id,
      result: { targetInfos: [info("OWN"), info("FOREIGN"), { targetId: "X", type: "tab" }] },
    });
    expect(toClient).toEqual([{ id: 7, result: { targetInfos: [info("OWN")] } }]);
  });

  it("hides events of other contexts, sessions and domains", () => {
    const { attach, browser, toClient } = open();
    for (const method of ["Target.targetCreated", "Target.targetInfoChanged"])
      browser({ method, params: { targetInfo: info("FOREIGN") } });
    for (const method of ["Target.targetDestroyed", "Target.targetCrashed"])
      browser({ method, params: { targetId: "FOREIGN" } });
    browser({ method: "Target.receivedMessageFromTarget", params: { sessionId: "S", message: "x" } });
    browser({ method: "Network.requestWillBeSent", params: {}, sessionId: "FOREIGN_SESSION" });
    browser({ method: "Network.requestWillBeSent", params: {} });
    browser({ method: "Tracing.dataCollected", params: {} });
    browser({ method: "Target.detachedFromTarget", params: { sessionId: "FOREIGN_SESSION" } });
    browser({ id: 12_345, result: { secret: true } });
    expect(toClient).toEqual([]);
    attach("OWN", "S");
    browser({ method: "SystemInfo.x", params: {}, sessionId: "S" });
    browser({ method: "Network.requestWillBeSent", params: {}, sessionId: "S" });
    browser({ method: "Target.targetDestroyed", params: { targetId: "OWN" } });
    expect(toClient.map(({ method }) => method)).toEqual([
      "Target.attachedToTarget",
      "Network.requestWillBeSent",
      "Target.targetDestroyed",
    ]);
  });

  it("releases and leaves a foreign target to which the browser attached the client", () => {
    const { attach, command, toBrowser, toClient } = open();
    attach("FOREIGN", "F", true);
    expect(toBrowser).toMatchObject([
      { method: "Runtime.runIfWaitingForDebugger", sessionId: "F" },
      { method: "Target.detachFromTarget", params: { sessionId: "F" } },
    ]);
    expect(toClient).toEqual([]);
    command({ id: 1, method: "Runtime.enable", sessionId: "F" });
    expect(toClient).toMatchObject([{ error: { code: -32001 } }]);
  });

  it("passes on downloads that begin in an own frame or end in the own folder, and no others", async () => {
    const { browser, toClient } = open();
    const file = join(root, "done");
    writeFileSync(file, "");
    const begin = (guid: string, frameId: string) => {
      browser({ method: "Browser.downloadWillBegin", params: { guid, frameId, url: "x" } });
    };
    const progress = (guid: string, filePath?: string) => {
      browser({ method: "Browser.downloadProgress", params: { guid, state: "completed", filePath } });
    };
    begin("foreign", "FOREIGN");
    progress("foreign", "/etc/passwd");
    progress("unknown");
    begin("gone", "MISSING");
    progress("gone", file);
    begin("own", "OWN");
    progress("own", file);
    await expect.poll(() => toClient.length).toBe(4);
    expect(toClient.map(({ params }) => params?.guid)).toEqual(["gone", "gone", "own", "own"]);
  });
});

describe("messages that need no parsing", () => {
  const sessionOf = (text: string): unknown => (JSON.parse(text) as Message).sessionId;

  it("are recognized by their ends exactly as by their parsed fields, for every content of pages", () => {
    const hostile = fc.oneof(
      fc.string(),
      fc.constantFrom(',"sessionId":"S"}', '"},"sessionId":"S"}', '\\","sessionId":"S"}', '{"id":1,'),
    );
    const value = fc.oneof(
      hostile,
      fc.dictionary(hostile, hostile),
      fc.array(hostile),
      fc.constant({ sessionId: "S" }),
    );
    fc.assert(
      fc.property(value, fc.option(fc.constantFrom("S", "FOREIGN", 'S"}')), (part, sessionId) => {
        const text = JSON.stringify({ method: "Network.x", params: { part }, sessionId: sessionId ?? undefined });
        const ends = eventEndsOf(text);
        if (ends === undefined) return sessionId === null || sessionId === 'S"}';
        return ends.domain === "Network" && ends.sessionId === sessionOf(text);
      }),
    );
  });

  it("keep the id of the client, and the errors of the browser", () => {
    const { attach, browser, command, toBrowser, toClient } = open();
    attach("OWN", "S");
    toClient.length = 0;
    for (const id of [70, 71]) command({ id, method: "Runtime.evaluate", params: { expression: "1" }, sessionId: "S" });
    browser({ id: toBrowser[1]?.id, error: { code: -1, message: "no" }, sessionId: "S" });
    browser({ id: toBrowser[0]?.id, result: { result: { value: 1 } }, sessionId: "S" });
    expect(toClient).toEqual([
      { id: 71, error: { code: -1, message: "no" }, sessionId: "S" },
      { id: 70, result: { result: { value: 1 } }, sessionId: "S" },
    ]);
    browser({ id: toBrowser[0]?.id, result: {}, sessionId: "S" });
    expect(toClient).toHaveLength(2);
  });
});
