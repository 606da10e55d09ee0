import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PageOutline } from "../../index.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { runInstance } from "../../testing/run-instance.ts";
import { forbidFormHistory } from "./preferences.ts";

const typed = { user: "user-canary-1", pw: "password-canary-2", answer: "answer-canary-3" };

let site: Server;
beforeAll(async () => {
  site = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(`<!doctype html><form method=post>
      <input name=user autocomplete=username><input type=password name=pw><input name=answer><button>Log in</button></form>`);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

function* filesBelow(directory: string): Generator<string> {
  for (const name of readdirSync(directory)) {
    // Archives of profiles omit the open tabs.
    if (name.startsWith("Sessions")) continue;
    const path = join(directory, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) yield* filesBelow(path);
    else if (stat?.isFile() === true) yield path;
  }
}

describeChromium("the profile", (chromium) => {
  it("does not store the values of forms", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600 });
    async function call<T>(path: string, body: object = {}): Promise<T> {
      const answer = await instance.call("POST", `/_instance/page/${path}`, JSON.stringify(body));
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
      return JSON.parse(answer.text) as T;
    }
    const hosts = ["127.0.0.1"];
    const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
    for (let round = 0; round < 2; round++) {
      await call("act", { kind: "goto", url, hosts });
      await call("settle", { quiet_ms: 200, timeout_ms: 8_000 });
      const { nodes } = await call<PageOutline>("outline");
      const find = (name: string) => nodes.find((node) => (node.attributes.name ?? node.name) === name)?.ref;
      for (const [name, value] of Object.entries(typed))
        expect(await call("act", { kind: "fill", ref: find(name), value, hosts })).toEqual({ outcome: "done" });
      await call("act", { kind: "click", ref: find("Log in") });
      await call("settle", { quiet_ms: 200, timeout_ms: 8_000 });
    }
    // Saving closes the browser, which writes its files.
    const saved = await instance.call("POST", "/_instance/profile/final");
    expect(saved.status).toBe(200);
    let files = 0;
    for (const path of filesBelow(instance.config.session_dir)) {
      const bytes = readFileSync(path);
      files += 1;
      for (const text of [bytes.toString("latin1"), bytes.toString("utf16le")])
        for (const value of Object.values(typed)) expect(text.includes(value), `${value} in ${path}`).toBe(false);
    }
    expect(files).toBeGreaterThan(5);
  });

  it("keeps other preferences", async () => {
    await using instance = await runInstance({ chromium });
    const folder = join(instance.config.session_dir, "other", "Default");
    mkdirSync(folder, { recursive: true });
    const path = join(folder, "Preferences");
    writeFileSync(path, '{"autofill":{"x":1},"homepage":"https://example.com"}');
    forbidFormHistory(join(folder, ".."));
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      autofill: { x: 1, profile_enabled: false },
      homepage: "https://example.com",
      credentials_enable_service: false,
    });
    writeFileSync(path, "[damaged");
    forbidFormHistory(join(folder, ".."));
    expect(readFileSync(path, "utf8")).toBe("[damaged");
  });
});
