import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { filesIn } from "../testing/zip.ts";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
let site: Site;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-bundle-"));
  site = await serveSite((request, response) => {
    if (request.url === "/api/orders")
      response.writeHead(200, { "content-type": "application/json" }).end('{"orders":["lamp"]}');
    else
      response.writeHead(200, { "content-type": "text/html" }).end(
        `<title>orders</title><button onclick="console.warn('paid'); fetch('/api/orders')">Pay</button>
        <input type=password aria-label=Password><script>console.log("three orders")</script>`,
      );
  });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await site.close();
});

describe("the trace of an evidence bundle", () => {
  const test = useService(() => ["--allow-private-hosts", site.host, "--placement", "process"]);
  let reader = "playwright-core";
  const cli = () => require.resolve(`${reader}/package.json`).replace(/package\.json$/, "cli.js");
  const env = { ...process.env, NO_COLOR: "1" };
  const playwright = async (...args: string[]) =>
    (await run(process.execPath, [cli(), "trace", ...args], { cwd: folder, env })).stdout;
  /** As HTML. */
  const snapshot = async (action: string, phase: string) => {
    const args = [cli(), "trace", "snapshot", "--serve", "--phase", phase, action];
    const serves = spawn(process.execPath, args, { cwd: folder, env });
    try {
      for await (const line of createInterface({ input: serves.stdout })) {
        const [url] = /http:\/\/\S+/.exec(line) ?? [];
        if (url === undefined) continue;
        const [shown = ""] = /\/snapshot\/[^"]+/.exec(await (await fetch(url)).text()) ?? [];
        return await (await fetch(new URL(shown, url))).text();
      }
      throw new Error("The snapshot is not served.");
    } finally {
      serves.kill();
    }
  };

  it("opens with Playwright's own reader: actions, errors, console, requests, bodies, snapshots and pictures", async () => {
    const { shoal } = test;
    const browser = await shoal.browsers.create({
      telemetry: { browser: { console: {}, network: {}, page: { outlines: true } } },
      timeout_seconds: 300,
    });
    const id = browser.session_id;
    await browser.goto(site.url);
    await shoal.browsers.act(id, { type: "click", role: "button", name: "Pay" });
    await shoal.browsers.act(id, { type: "fill", role: "textbox", name: "Password", text: "hunter2hunter2" });
    await expect(shoal.browsers.act(id, { type: "click", name: "Nothing", timeout_ms: 100 })).rejects.toThrow();
    await eventuallyPasses(async () => {
      const types: unknown[] = [];
      for await (const { event } of await shoal.browsers.telemetry.events(id, {
        since: "1h",
        type: ["network_response"],
      }))
        if (event.type === "network_response") types.push(event.data?.url);
      expect(types).toContain(`${site.url}api/orders`);
    });
    await shoal.browsers.delete(id);
    const { stream } = await shoal.browsers.evidence(id, { include: ["telemetry", "trace", "har", "outlines"] });
    const files = filesIn(new Uint8Array(await new Response(stream).arrayBuffer()));
    for (const content of files.values()) expect(content.includes("hunter2hunter2")).toBe(false);
    const trace = files.get("trace.zip");
    if (trace === undefined) throw new Error("The bundle has no trace.");
    for (const content of filesIn(trace).values()) expect(content.includes("hunter2hunter2")).toBe(false);
    const path = join(folder, "trace.zip");
    writeFileSync(path, trace);

    expect(await playwright("open", path)).toContain("chromium");
    const actions = await playwright("actions");
    expect(actions).toContain(`Navigate ${site.url}`);
    expect(actions).toContain('Click button "Pay"');
    expect(actions).toContain('Fill textbox "Password"');
    expect(await playwright("actions", "--errors-only")).toContain('Click "Nothing"');
    expect(await playwright("errors")).toContain("Nothing");
    const messages = await playwright("console");
    expect(messages).toContain("three orders");
    expect(messages).toContain("paid");
    const ordinal = /^\s*(\d+)\..* 200 +orders\b/m.exec(await playwright("requests"))?.[1] ?? "";
    const request = await playwright("request", ordinal);
    expect(request).toContain(`${site.url}api/orders`);
    const body = /Response body\s+(\S+)/.exec(request)?.[1] ?? "";
    expect(readFileSync(join(folder, body), "utf8")).toBe('{"orders":["lamp"]}');
    const action = /^\s*(\d+)\W.*Click button "Pay"/m.exec(actions)?.[1] ?? "";
    for (const phase of ["before", "after"])
      expect(await snapshot(action, phase), phase).toMatch(/button (?:"|&quot;)Pay/);
    await playwright("screenshot", action, "-o", join(folder, "shot.jpg"));
    expect(readFileSync(join(folder, "shot.jpg")).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
    await playwright("close");
    reader = "playwright-core-1.62";
    await playwright("open", path);
    expect(await playwright("actions")).toContain('Click button "Pay"');
    expect(await playwright("console")).toContain("three orders");
    await playwright("close");
  });
});
