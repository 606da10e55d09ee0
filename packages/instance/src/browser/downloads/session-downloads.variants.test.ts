import { eventually } from "@shoal/testkit";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createCdpGuard } from "../../clients/cdp/guard.ts";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance } from "../../testing/run-instance.ts";
import { ClientDownloads } from "./client-downloads.ts";
import { SessionDownloads } from "./session-downloads.ts";

function slowBrowser() {
  const answers: (() => void)[] = [];
  const send = (method: string) =>
    method === "Browser.setDownloadBehavior"
      ? new Promise((resolve) => {
          answers.push(() => {
            resolve({});
          });
        })
      : Promise.resolve({});
  const cdp = {
    send,
    on: () => () => undefined,
    closed: Promise.withResolvers<undefined>().promise,
  } as unknown as CdpConnection;
  return { cdp, answers };
}

it("delays a client's folder until the browser has confirmed the instance's earlier change", async () => {
  const root = mkdtempSync(join(tmpdir(), "shoal-downloads-"));
  const { cdp, answers } = slowBrowser();
  const downloads = new SessionDownloads({ root, home: "/home" });
  const attached = downloads.attach(cdp);
  answers.shift()?.();
  await attached;
  const [first, second] = [new ClientDownloads(root, downloads), new ClientDownloads(root, downloads)];
  const command = Buffer.from(
    JSON.stringify({
      id: 1,
      method: "Browser.setDownloadBehavior",
      params: { behavior: "allow", downloadPath: "/chosen" },
    }),
  );
  const expected = expect.stringContaining(join(root, "chosen")) as string;
  expect(createCdpGuard(root, first)(command)).toEqual({ replace: expected });
  first.release();
  expect(answers).toHaveLength(1);
  const verdict = createCdpGuard(root, second)(command);
  if (typeof verdict === "string" || !("later" in verdict))
    throw new Error(`The command passed at once: ${JSON.stringify(verdict)}`);
  const passed = vi.fn();
  void verdict.later.then(passed);
  await new Promise(setImmediate);
  expect(passed).not.toHaveBeenCalled();
  answers[0]?.();
  expect(await verdict.later).toEqual({ replace: expected });
  expect(createCdpGuard(root, second)(command)).toEqual({ replace: expected });
  rmSync(root, { recursive: true });
});

it("keeps a file whose end Playwright code saw first", async () => {
  const root = mkdtempSync(join(tmpdir(), "shoal-downloads-"));
  const listeners = new Map<string, (event: object) => void>();
  const guid = "6e9c2d1e-8f0e-4f65-9f5c-0a5c8a1f7c11";
  const cdp = {
    send: (method: string) => {
      // Chromium sends its events in order.
      if (method === "Browser.getVersion")
        listeners.get("Browser.downloadProgress")?.({ guid, state: "completed", receivedBytes: 7, totalBytes: 7 });
      return method === "Target.getTargetInfo" ? Promise.reject(new Error("closed")) : Promise.resolve({});
    },
    on: (event: string, listener: (event: object) => void) => listeners.set(event, listener),
    closed: Promise.withResolvers<undefined>().promise,
  } as unknown as CdpConnection;
  const downloads = new SessionDownloads({ root, home: "/home" });
  await downloads.attach(cdp);
  const folder = downloads.openCodeFolder();
  listeners.get("Browser.downloadWillBegin")?.({ guid, suggestedFilename: "code.txt", frameId: "1", url: "http://a/" });
  writeFileSync(join(folder.path, guid), "content");
  await folder.close();
  expect(readFileSync(join(downloads.folder, "code.txt"), "utf8")).toBe("content");
  expect(existsSync(folder.path)).toBe(false);
  rmSync(root, { recursive: true });
});

it("keeps a client connected until its new downloads have a file", async () => {
  const root = mkdtempSync(join(tmpdir(), "shoal-downloads-"));
  const listeners = new Map<string, (event: object) => void>();
  const cdp = {
    send: (method: string) =>
      method === "Target.getTargetInfo" ? Promise.reject(new Error("closed")) : Promise.resolve({}),
    on: (event: string, listener: (event: object) => void) => listeners.set(event, listener),
    closed: Promise.withResolvers<undefined>().promise,
  } as unknown as CdpConnection;
  const downloads = new SessionDownloads({ root, home: "/home" });
  await downloads.attach(cdp);
  const client = new ClientDownloads(root, downloads);
  expect(client.placed).toBeUndefined();
  client.change({ behavior: "allowAndName", downloadPath: "/of-client" });
  await client.placed;

  const [saved, canceled] = ["6e9c2d1e-8f0e-4f65-9f5c-0a5c8a1f7c11", "0f1f4a52-0e1b-4c0f-9d11-5a5d2b1c7e22"];
  for (const guid of [saved, canceled])
    listeners.get("Browser.downloadWillBegin")?.({ guid, suggestedFilename: "a", frameId: "1", url: "http://a/" });
  const isPlaced = vi.fn();
  const placed = client.placed?.then(isPlaced);
  const report = (guid: string, state: string) =>
    listeners.get("Browser.downloadProgress")?.({ guid, state, receivedBytes: 0, totalBytes: 0 });
  report(saved, "inProgress");
  report(canceled, "canceled");
  await new Promise(setImmediate);
  expect(isPlaced).not.toHaveBeenCalled();
  report(saved, "inProgress");
  await placed;
  rmSync(root, { recursive: true });
});

const firstPart = "content ".repeat(10_000);

describeChromium("a download", (chromium) => {
  let server: Server;
  let finishSlow: () => void;
  beforeAll(async () => {
    server = createServer(({ url }, response) => {
      if (url === "/page") {
        response.writeHead(200, { "content-type": "text/html" }).end("page");
        return;
      }
      if (url === "/slow") {
        response
          .writeHead(200, {
            "content-disposition": "attachment; filename=slow.txt",
            "content-type": "application/octet-stream",
          })
          // Chromium reports a download once it has read its first bytes.
          .write(firstPart);
        finishSlow = () => response.end("end");
        return;
      }
      response.writeHead(200, { "content-disposition": "attachment; filename=first.txt" }).end("content");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  it("of Playwright code arrives, also when it ends after the code", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const code = `await page.goto("${url}/page"); const begun = page.waitForEvent("download");
      await page.evaluate(() => { location.href = "/slow"; }); return (await begun).suggestedFilename();`;
    const { text } = await instance.call("POST", "/playwright/execute", JSON.stringify({ code, timeout_sec: 300 }));
    expect(JSON.parse(text)).toMatchObject({ success: true, result: "slow.txt", stdout: "", stderr: "" });
    const home = join(instance.config.root, "home/shoal");
    expect(existsSync(join(home, "Downloads/slow.txt"))).toBe(false);
    finishSlow();
    await expect.poll(() => existsSync(join(home, "Downloads/slow.txt"))).toBe(true);
    expect(readFileSync(join(home, "Downloads/slow.txt"), "utf8")).toBe(`${firstPart}end`);
    await expect.poll(() => readdirSync(join(home, ".incoming-downloads"))).toEqual([]);
  });

  it("arrives when its client disconnects at once", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
    const downloads = join(instance.config.root, "home/shoal/Downloads");
    const names = ["first.txt", "first (1).txt", "first (2).txt", "first (3).txt"];
    for (const name of names) {
      const socket = await instance.connect();
      const client = cdpClient(socket);
      await client.send("Browser.setDownloadBehavior", {
        behavior: "allowAndName",
        downloadPath: "/tmp/of-client",
        eventsEnabled: true,
      });
      const begun = new Promise<void>((resolve) =>
        socket.on("message", (data) => {
          if (!(data as Buffer).includes("Browser.downloadWillBegin")) return;
          socket.terminate();
          resolve();
        }),
      );
      void client.send("Target.createTarget", { url });
      await begun;
      await expect.poll(() => existsSync(join(downloads, name))).toBe(true);
    }
    expect(readdirSync(downloads).sort()).toEqual(names.sort());
  });

  it("as the first navigation of a tab does not block Playwright code", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
    const client = cdpClient(await instance.connect());
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
    expect(await client.send("Target.createTarget", { url })).toHaveProperty("result.targetId");
    await eventually(() => existsSync(join(instance.config.root, "home/shoal/Downloads/first.txt")));
    const { text } = await instance.call(
      "POST",
      "/playwright/execute",
      JSON.stringify({ code: "return [...new Set(context.pages().map((page) => page.url()))]", timeout_sec: 300 }),
    );
    // Chrome closes the download's tab, the headless shell keeps it.
    expect(JSON.parse(text)).toMatchObject({ success: true, result: ["about:blank"] });
  });
});
