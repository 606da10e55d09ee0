import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { BrowserDownload } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

const names = [
  `filename="../../../etc/passwd"`,
  `filename*=UTF-8''..%2f..%2fup.txt`,
  `filename*=UTF-8''a%00b%0ac%1b%5b31m.txt`,
  `filename*=UTF-8''invoice%e2%80%aefdp.exe`,
  `filename=".."`,
  `filename*=UTF-8''${"%c3%a9".repeat(300)}.txt`,
  `filename="/absolute/path.txt"`,
  `filename="CON"`,
];

async function next(instance: RunningInstance, after?: string): Promise<BrowserDownload> {
  const body = JSON.stringify({ after, timeout_seconds: 50 });
  const ask = () => instance.call("POST", "/downloads/wait", body, { "content-type": "application/json" });
  let answer = await ask();
  while (answer.status === 204) answer = await ask();
  const { status, text } = answer;
  expect(status).toBe(200);
  return JSON.parse(text) as BrowserDownload;
}

describeChromium("downloads of a hostile page", (chromium) => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const [, place] = /^\/name\/(\d+)/.exec(request.url ?? "") ?? [];
      response.setHeader("content-type", place === undefined ? "text/html" : "application/octet-stream");
      if (place === undefined) response.end("<title>hostile</title>");
      else response.setHeader("content-disposition", `attachment; ${names[Number(place)] ?? "filename=x"}`).end(place);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it("stay in their folder under harmless names", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
    const folder = join(instance.config.root, "home/shoal/Downloads");
    const client = cdpClient(await instance.connect());
    let after: string | undefined;
    for (const place of names.keys()) {
      await client.send("Target.createTarget", { url: `${url}/name/${String(place)}` });
      const { download_id, path, state } = await next(instance, after);
      after = download_id;
      expect(state).toBe("completed");
      expect(path).toMatch(/^\/home\/shoal\/Downloads\/[^/\p{Cc}\u202e]{1,255}$/u);
      expect(Buffer.byteLength(path?.split("/").at(-1) ?? "")).toBeLessThanOrEqual(255);
      expect(readFileSync(join(instance.config.root, path ?? ""), "utf8")).toBe(String(place));
    }
    expect(readdirSync(folder)).toHaveLength(names.length);
  });

  it("report no path or checksum of a file that a program replaces by a link", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
    const home = join(instance.config.root, "home/shoal");
    writeFileSync(join(home, "secret"), "secret");
    const client = cdpClient(await instance.connect());
    await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: "/home/shoal/chosen" });
    await client.send("Target.createTarget", { url: `${url}/name/7` });
    const first = await next(instance);
    const path = join(instance.config.root, first.path ?? "");
    rmSync(path);
    symlinkSync(join(home, "secret"), path);
    // The folder itself leads elsewhere.
    renameSync(join(home, "Downloads"), join(home, "moved"));
    mkdirSync(join(home, "other"));
    symlinkSync(join(home, "other"), join(home, "Downloads"));
    await client.send("Target.createTarget", { url: `${url}/name/0` });
    const second = await next(instance, first.download_id);
    expect(second.state).toBe("completed");
    rmSync(join(home, "Downloads"));
    await client.send("Target.createTarget", { url: `${url}/name/3` });
    expect(await next(instance, second.download_id)).toMatchObject({
      state: "completed",
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(readdirSync(join(home, "Downloads"))).toHaveLength(1);
  });
});
