import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createCdpGuard } from "../../clients/cdp/guard.ts";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance } from "../../testing/run-instance.ts";
import { ClientDownloads } from "./client-downloads.ts";
import { SessionDownloads } from "./session-downloads.ts";

vi.setConfig({ testTimeout: 60_000 });

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

describeChromium("a tab whose first navigation became a download", (chromium) => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((_, response) => {
      response.writeHead(200, { "content-disposition": "attachment; filename=first.txt" }).end("content");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  it("does not block Playwright code", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
    const client = cdpClient(await instance.connect());
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
    expect(await client.send("Target.createTarget", { url })).toHaveProperty("result.targetId");
    await vi.waitUntil(() => existsSync(join(instance.config.root, "home/shoal/Downloads/first.txt")), {
      timeout: 20_000,
    });
    const { text } = await instance.call(
      "POST",
      "/playwright/execute",
      JSON.stringify({ code: "return [...new Set(context.pages().map((page) => page.url()))]", timeout_sec: 20 }),
    );
    // Chrome closes the download's tab, the headless shell keeps it.
    expect(JSON.parse(text)).toMatchObject({ success: true, result: ["about:blank"] });
  });
});
