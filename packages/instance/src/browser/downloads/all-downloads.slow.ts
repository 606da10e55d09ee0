import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { BrowserDownload } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { killBrowser } from "../../testing/processes.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

const folder = "/home/shoal/Downloads";
/** More than Chromium reads before it decides that a response is a download. */
const partBytes = 100_000;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function api(instance: RunningInstance) {
  const call: RunningInstance["call"] = (...given) => instance.call(...given);
  const get = async (path: string) => JSON.parse((await call("GET", path)).text) as unknown;
  return {
    list: (query = "") => get(`/downloads${query}`) as Promise<BrowserDownload[]>,
    async wait(after?: string, timeout_seconds = 50) {
      const body = JSON.stringify({ ...(after !== undefined && { after }), timeout_seconds });
      const ask = () => call("POST", "/downloads/wait", body, { "content-type": "application/json" });
      let answer = await ask();
      while (answer.status === 204 && timeout_seconds > 0) answer = await ask();
      const { status, text } = answer;
      return { status, ...(text !== "" && (JSON.parse(text) as BrowserDownload)) } as {
        status: number;
      } & BrowserDownload;
    },
    read: (id: string) => call("GET", `/downloads/${id}/content`),
  };
}

describeChromium("the downloads of a session", (chromium) => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const name = /^\/(\w+)/.exec(request.url ?? "")?.[1] ?? "";
      response.setHeader("content-type", "application/octet-stream");
      response.setHeader("content-disposition", `attachment; filename=${name}.txt`);
      if (name === "endless") response.write("x".repeat(partBytes));
      else response.end(`content of ${name}`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it("contain each file under its suggested name, with any setting of a client", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
    const downloads = api(instance);
    const host = (path: string) => join(instance.config.root, path);
    const client = cdpClient(await instance.connect());
    const open = (name: string, params: object = {}) =>
      client.send("Target.createTarget", { url: `${url}/${name}?token=secret#x`, ...params });
    mkdirSync(host("/tmp/guids"), { recursive: true });
    let after: string | undefined;
    const next = async () => {
      const found = await downloads.wait(after);
      after = found.download_id;
      return found;
    };
    const paths: (string | null)[] = [];

    // No setting, then each setting of the default context, each with a file of the same name.
    for (const settings of [
      undefined,
      { behavior: "allow", downloadPath: "/tmp/chosen" },
      { behavior: "allow", downloadPath: folder },
      { behavior: "allow", downloadPath: "downloads" },
      { behavior: "allowAndName", downloadPath: "/tmp/guids" },
      { behavior: "default" },
    ]) {
      if (settings !== undefined)
        expect(await client.send("Browser.setDownloadBehavior", settings)).toHaveProperty("result");
      await open("same");
      const found = await next();
      expect(found).toMatchObject({
        status: 200,
        state: "completed",
        name: "same.txt",
        size_bytes: 15,
        received_bytes: 15,
        sha256: sha256("content of same"),
        origin_url: `${url}/same`,
      });
      paths.push(found.path);
      expect((await downloads.read(found.download_id)).text).toBe("content of same");
      if (settings?.behavior === "allowAndName")
        expect(readFileSync(host(`/tmp/guids/${found.download_id}`), "utf8")).toBe("content of same");
    }
    expect(paths).toEqual([
      `${folder}/same.txt`,
      ...[1, 2, 3, 4, 5].map((number) => `${folder}/same (${String(number)}).txt`),
    ]);
    expect(readdirSync(host("/tmp/chosen"))).toEqual(["same.txt"]);

    expect(await client.send("Browser.setDownloadBehavior", { behavior: "deny" })).toHaveProperty("result");
    await open("refused");
    expect(await next()).toMatchObject({ state: "canceled", name: "refused.txt", path: null, sha256: null });

    // A page that downloads at once, in a context without a setting.
    const { result } = (await client.send("Target.createBrowserContext")) as { result: { browserContextId: string } };
    await open("context", { browserContextId: result.browserContextId });
    expect(await next()).toMatchObject({ state: "completed", path: `${folder}/context.txt` });

    // The setting of a page applies to its context, and ends with the client.
    const other = cdpClient(await instance.connect());
    const page = (await client.send("Target.createTarget", {
      url: "about:blank",
      browserContextId: result.browserContextId,
    })) as { result: { targetId: string } };
    const attached = (await other.send("Target.attachToTarget", { targetId: page.result.targetId, flatten: true })) as {
      result: { sessionId: string };
    };
    expect(
      await other.send(
        "Page.setDownloadBehavior",
        { behavior: "allow", downloadPath: "/tmp/page" },
        attached.result.sessionId,
      ),
    ).toHaveProperty("result");
    await open("paged", { browserContextId: result.browserContextId });
    expect(await next()).toMatchObject({ state: "completed", path: `${folder}/paged.txt` });
    expect(existsSync(host("/tmp/page/paged.txt"))).toBe(true);

    const all = await downloads.list("?limit=2");
    expect(all.map(({ name }) => name)).toEqual(["paged.txt", "context.txt"]);
    await instance.event((event) => event.type === "download_finished" && event.download_id === after);
    const events = instance.events.filter(({ type }) => type === "download_finished");
    expect(events).toHaveLength(9);
    expect(new Set(events.map((event) => "download_id" in event && event.download_id)).size).toBe(9);
    expect(await downloads.wait("unknown")).toMatchObject({ status: 404, field: "body.after" });
    expect((await downloads.wait(after, 0)).status).toBe(204);
    expect((await downloads.read("unknown")).status).toBe(404);
    rmSync(host(`${folder}/paged.txt`));
    expect((await downloads.read(after ?? "")).status).toBe(404);
  });

  it("list running downloads, and mark them as interrupted after a crash", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
    const downloads = api(instance);
    const client = cdpClient(await instance.connect());
    await client.send("Target.createTarget", { url: `${url}/endless` });
    await eventuallyPasses(async () => {
      expect(await downloads.list()).toMatchObject([
        { state: "in_progress", name: "endless.txt", received_bytes: partBytes, path: null, finished_at: null },
      ]);
    });
    const waiting = downloads.wait();
    killBrowser(instance.config.session_dir);
    expect(await waiting).toMatchObject({ status: 200, state: "interrupted", name: "endless.txt", path: null });
    expect(await downloads.list()).toHaveLength(1);
    expect((await downloads.read((await downloads.list())[0]?.download_id ?? "")).status).toBe(404);
  });
});
