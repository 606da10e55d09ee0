import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientDownloads } from "../../browser/downloads/client-downloads.ts";
import { SessionDownloads } from "../../browser/downloads/session-downloads.ts";
import type { OpenContextProxy } from "../../egress/context-proxy.ts";
import { createCdpGuard } from "./guard.ts";

const message = (value: unknown) => Buffer.from(JSON.stringify(value));
const guardOf = (root: string, openContextProxy?: OpenContextProxy) =>
  createCdpGuard(root, new ClientDownloads(root, new SessionDownloads({ root, home: "/home" })), openContextProxy);

describe("in a sandbox", () => {
  const guard = guardOf("/");

  it("answers Browser.close and disconnects only that client", () => {
    expect(guard(message({ id: 7, method: "Browser.close" }))).toEqual({ answerAndClose: '{"id":7,"result":{}}' });
    expect(guard(message({ id: 8, method: "Browser.close", sessionId: "s" }))).toEqual({
      answerAndClose: '{"id":8,"result":{},"sessionId":"s"}',
    });
  });

  it("knows commands with escaped letters", () => {
    const escaped = Buffer.from(String.raw`{"id":7,"method":"Browser.clos\u0065"}`);
    expect(guard(escaped)).toEqual({ answerAndClose: '{"id":7,"result":{}}' });
  });

  it.each([
    "Browser.close",
    "Browser.setDownloadBehavior",
    "DOM.setFileInputFiles",
    "Extensions.loadUnpacked",
    "Input.dispatchDragEvent",
    "Page.setDownloadBehavior",
    "Target.createBrowserContext",
    "Target.createTarget",
    "Target.exposeDevToolsProtocol",
    "Runtime.evaluate",
  ])("answers %s in JSON that Chromium reads and the guard does not", (method) => {
    const text = JSON.stringify({ id: 7, method, params: { path: "x" } });
    for (const lenient of [
      text.replace("{", "{\v"),
      text.replace(",", ",\f"),
      text.replace('"x"', String.raw`"\v"`),
      text.replace('"x"', '"\u0001"'),
      text.replace('"x"', '"\n"'),
    ])
      expect([lenient, guard(Buffer.from(lenient))]).toEqual([
        lenient,
        { answer: '{"error":{"code":-32700,"message":"Invalid JSON."}}' },
      ]);
  });

  it("writes a guarded command again if Chromium could read it differently", () => {
    const twice = '{"id":1,"method":"Target.createTarget","params":{"url":"about:blank"},"params":{"url":"x:"}}';
    expect(guard(Buffer.from(twice))).toEqual({
      replace: '{"id":1,"method":"Target.createTarget","params":{"url":"x:"}}',
    });
    const spaced = '{ "id": 1, "method": "Runtime.evaluate",\n\t"params": { "expression": "1" } }';
    expect(guard(Buffer.from(spaced))).toBe("pass");
    const regexp = message({ id: 1, method: "Runtime.evaluate", params: { expression: String.raw`/\v\u0000/` } });
    expect(guard(regexp)).toBe("pass");
  });

  it("answers guarded commands that are nested too deeply", () => {
    const deep = `{"id":1,"method":"Target.createTarget","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(guard(Buffer.from(deep))).toEqual({ answer: expect.stringContaining("-32700") as unknown });
  });

  it("lets no page send commands", () => {
    const expose = { id: 7, method: "Target.exposeDevToolsProtocol", params: { targetId: "t" } };
    expect(guard(message(expose))).toEqual({
      answer: expect.stringMatching(/"id":7,"error":.*is refused.*cdp_ws_url/) as unknown,
    });
  });

  it("passes messages that only mention the command", () => {
    expect(guard(message({ id: 1, method: "Runtime.evaluate", params: { expression: "'Browser.close'" } }))).toBe(
      "pass",
    );
    expect(guard(message({ id: 1, method: "Browser.closeTab" }))).toBe("pass");
    expect(guard(message(["Browser.close"]))).toBe("pass");
    expect(guard(Buffer.from('{"method":"Browser.close"'))).toEqual({
      answer: expect.stringContaining("-32700") as unknown,
    });
    expect(guard(message(null))).toBe("pass");
  });

  it("answers with the next step for an extension's folder of another machine", () => {
    const load = (path: string) => guard(message({ id: 4, method: "Extensions.loadUnpacked", params: { path } }));
    expect(load(tmpdir())).toBe("pass");
    const verdict = load("/Users/ann/project/extension");
    expect(verdict).toHaveProperty("answer", expect.stringMatching(/"id":4,.*fs\.uploadZip.*browsers\.loadExtensions/));
  });

  it.each([
    ["DOM.setFileInputFiles", (path: string) => ({ files: [tmpdir(), path], nodeId: 1 })],
    ["Input.dispatchDragEvent", (path: string) => ({ type: "drop", x: 1, y: 1, data: { items: [], files: [path] } })],
  ] as const)("answers %s with the next step for files of another machine", (method, params) => {
    const run = (path: string) => guard(message({ id: 4, method, params: params(path), sessionId: "s" }));
    expect(run(tmpdir())).toBe("pass");
    for (const path of [
      "/Users/ann/cv.pdf",
      "cv.pdf",
      "./cv.pdf",
      String.raw`C:\cv.pdf`,
      "",
      `${tmpdir()}/missing-folder`,
    ])
      expect(run(path)).toEqual({
        answer: expect.stringMatching(/"id":4,.*"code":-32602.*fs\.upload.*setInputFiles.*"sessionId":"s"/) as unknown,
      });
    expect(guard(message({ id: 4, method, params: {} }))).toBe("pass");
    expect(guard(message({ id: 4, method: "DOM.setFileInputFiles", params: { files: [] } }))).toBe("pass");
    expect(guard(message({ id: 4, method: "DOM.setFileInputFiles", params: { files: [1] } }))).toBe("pass");
  });

  it("uses folders that exist or can be created in the session", () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "shoal-guard-")));
    for (const params of [
      { behavior: "allow", downloadPath: folder },
      { behavior: "allow", downloadPath: join(folder, "new") },
      { behavior: "allowAndName", downloadPath: folder },
      { behavior: "deny" },
      { behavior: "allow" },
    ])
      expect(guard(message({ id: 1, method: "Browser.setDownloadBehavior", params }))).toBe("pass");
    expect(existsSync(join(folder, "new"))).toBe(true);
    rmSync(folder, { recursive: true });
  });

  it.each([
    { behavior: "allowAndName", downloadPath: "/tmp/playwright-artifacts-of-another-machine" },
    { behavior: "allowAndName", downloadPath: String.raw`C:\Users\me\AppData\Local\Temp\playwright-artifacts-x` },
    { behavior: "allow", downloadPath: String.raw`C:\Users\me\Downloads` },
    { behavior: "allow", downloadPath: "/proc/1/downloads" },
    { behavior: "allow", downloadPath: "downloads" },
    { behavior: "allow", downloadPath: "./downloads/" },
    { behavior: "allow", downloadPath: "." },
    { behavior: "allow", downloadPath: ".." },
    { behavior: "allow", downloadPath: "../../tmp/a/b" },
    { behavior: "allow", downloadPath: "~/Downloads" },
    { behavior: "allowAndName", downloadPath: "." },
    { behavior: "allow", downloadPath: "" },
    { behavior: "default" },
  ])("keeps downloads in the session for %j, a folder outside of it", (params) => {
    const { replace = "" } = guard(
      message({ id: 1, method: "Browser.setDownloadBehavior", params: { ...params, eventsEnabled: true } }),
    ) as { readonly replace?: string };
    expect(JSON.parse(replace)).toEqual({
      id: 1,
      method: "Browser.setDownloadBehavior",
      params: { behavior: "allowAndName", eventsEnabled: true, downloadPath: "/home/.incoming-downloads" },
    });
  });
});

describe("a browser context with a separate proxy", () => {
  const opened: unknown[] = [];
  const guard = guardOf("/", (proxy) => {
    opened.push(proxy);
    return proxy.url.includes("full") ? Promise.reject(new Error("too many")) : Promise.resolve(4711);
  });
  const create = (params: object) => guard(message({ id: 5, method: "Target.createBrowserContext", params }));
  const later = async (params: object) => {
    const verdict = create(params);
    return typeof verdict === "object" && "later" in verdict ? verdict.later : verdict;
  };

  it("routes its proxy and the bypassed hosts through a port of the instance", async () => {
    const params = {
      disposeOnDetach: true,
      proxyServer: "http://proxy.example:1",
      proxyBypassList: "a.example,<-loopback>",
    };
    expect(await later(params)).toEqual({
      replace: JSON.stringify({
        id: 5,
        method: "Target.createBrowserContext",
        params: { disposeOnDetach: true, proxyServer: "http://127.0.0.1:4711", proxyBypassList: "<-loopback>" },
      }),
    });
    expect(opened).toEqual([{ url: "http://proxy.example:1", bypassHosts: ["a.example"] }]);
  });

  it("leaves a context without a proxy unchanged, and never bypasses the gateway", () => {
    expect(create({ disposeOnDetach: true })).toBe("pass");
    expect(create({ proxyServer: "direct://", proxyBypassList: "*" })).toEqual({
      replace: '{"id":5,"method":"Target.createBrowserContext","params":{}}',
    });
  });

  it("answers with the problem of an invalid proxy", async () => {
    expect(create({ proxyServer: "socks4://a" })).toEqual({
      answer: expect.stringMatching(/"id":5,"error":{"code":-32602,"message":"proxyServer: /) as unknown,
    });
    expect(await later({ proxyServer: "http://full" })).toEqual({
      answer: '{"id":5,"error":{"code":-32602,"message":"too many"}}',
    });
  });
});

describe("with a directory as the root", () => {
  let root: string;
  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "shoal-guard-")));
    mkdirSync(join(root, "home"));
    for (const name of ["a", "b"]) writeFileSync(join(root, "home", name), name);
    symlinkSync(tmpdir(), join(root, "out"));
    symlinkSync("home", join(root, "in"));
  });
  afterAll(() => {
    rmSync(root, { recursive: true });
  });

  it("maps the paths of each command with paths", () => {
    const guard = guardOf(root);
    for (const [method, params, mapped] of [
      [
        "Browser.setDownloadBehavior",
        { behavior: "allow", downloadPath: "/home/new/dir" },
        { behavior: "allow", downloadPath: join(root, "home/new/dir") },
      ],
      [
        "Page.setDownloadBehavior",
        { behavior: "allow", downloadPath: "/in/x" },
        { behavior: "allow", downloadPath: join(root, "home/x") },
      ],
      [
        "DOM.setFileInputFiles",
        { files: ["/home/a", "/home/b"], nodeId: 1 },
        { files: [join(root, "home/a"), join(root, "home/b")], nodeId: 1 },
      ],
      [
        "Input.dispatchDragEvent",
        { type: "drop", data: { items: [], files: ["/home/a"] } },
        { type: "drop", data: { items: [], files: [join(root, "home/a")] } },
      ],
      ["Extensions.loadUnpacked", { path: "/" }, { path: root }],
    ] as const) {
      expect(guard(message({ id: 3, method, params, sessionId: "s" }))).toEqual({
        replace: JSON.stringify({ id: 3, method, params: mapped, sessionId: "s" }),
      });
    }
    expect(guard(message({ id: 3, method: "Browser.setDownloadBehavior", params: { behavior: "deny" } }))).toBe("pass");
  });

  it.each(["/../etc/passwd", "/home/c", "/home/../../etc", "relative", "", "/out/x", "/home/\0", "/a".repeat(100_000)])(
    "rejects a path outside of the root (%#)",
    (path) => {
      const verdict = guardOf(root)(
        message({ id: 3, method: "DOM.setFileInputFiles", params: { files: ["/home/a", path] } }),
      );
      expect(verdict).toHaveProperty("answer");
      expect(JSON.parse((verdict as { answer: string }).answer)).toMatchObject({ id: 3, error: { code: -32602 } });
    },
  );
});
