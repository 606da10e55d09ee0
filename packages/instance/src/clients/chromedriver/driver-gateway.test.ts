import { eventually } from "@shoal/testkit";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { commandLineOf, killBrowser } from "../../testing/processes.ts";
import { runInstance, type RunningInstance } from "../../testing/run-instance.ts";

const hasDriver = existsSync("/usr/bin/chromedriver");
const page = (html: string) => `data:text/html,${encodeURIComponent(html)}`;

interface Answer {
  readonly status: number;
  readonly value: unknown;
}

async function ask(instance: RunningInstance, method: string, path: string, body?: object): Promise<Answer> {
  const text = body && JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  const answer = await instance.call(method, path, text, text === undefined ? {} : headers);
  return { status: answer.status, value: (JSON.parse(answer.text) as { readonly value: unknown }).value };
}

describeChromium("commands of WebDriver", (chromium) => {
  describe.skipIf(!hasDriver && process.env.SHOAL_REQUIRE_ALL !== "1")("with chromedriver", () => {
    let instance: RunningInstance;
    beforeAll(async () => {
      instance = await runInstance({ chromium });
      await instance.assign({ timeout_seconds: 300 });
    });
    afterAll(() => instance[Symbol.asyncDispose]());

    const create = (capabilities: object = {}) => ask(instance, "POST", "/wd/session", capabilities);
    const command = (method: string, path: string, body?: object) =>
      ask(instance, method, `/wd/session/${path}`, body ?? (method === "POST" ? {} : undefined));

    it("starts a driver at the first of them, which controls the browser of the session", async () => {
      expect(await command("GET", "url")).toMatchObject({ status: 404, value: { error: "invalid session id" } });
      const { status, value } = await create({ pageLoadStrategy: "eager" });
      expect([status, value]).toMatchObject([200, { capabilities: { pageLoadStrategy: "eager" } }]);
      expect(await create()).toMatchObject({ status: 500, value: { error: "session not created" } });
      await command("POST", "url", { url: page("<title>one</title><a href='#b' onclick='document.title=2'>go</a>") });
      expect(await command("GET", "title")).toEqual({ status: 200, value: "one" });
      const found = await command("POST", "element", { using: "css selector", value: "a" });
      const [element] = Object.values(found.value as Readonly<Record<string, string>>);
      await command("POST", `element/${element ?? ""}/click`);
      expect(await command("GET", "title")).toEqual({ status: 200, value: "2" });
      // The process of the browser hears of a title from the page.
      await expect.poll(async () => (await instance.call("GET", "/json/list")).text).toContain('"title":"2"');
      const opened = await command("POST", "window/new", { type: "tab" });
      expect(opened).toMatchObject({ status: 200, value: { type: "tab" } });
    });

    it("cannot end the browser or its driver, or leave the files of the session", async () => {
      const cdp = (cmd: string, params: object = {}) => command("POST", "goog/cdp/execute", { cmd, params });
      const outside = { behavior: "allow", downloadPath: "/../etc" };
      expect(await cdp("Browser.setDownloadBehavior", outside)).toMatchObject({ status: 400 });
      expect(JSON.stringify(await cdp("DOM.setFileInputFiles", { files: ["/missing.txt"], nodeId: 1 }))).toContain(
        "does not exist",
      );
      for (const path of ["/wd/shutdown", "/wd/session/../../shutdown", "/wd/session//shutdown", "/wd/status"])
        expect((await ask(instance, "GET", path)).status).toBe(404);
      expect(await command("GET", "title")).toMatchObject({ status: 200 });
      expect(instance.events.map(({ type }) => type)).not.toContain("browser_restarted");
    });

    it("knows cookies by every name that clients do not escape", async () => {
      for (const name of ["a!b", "x..y", "*", "(it's)"])
        expect([name, await command("GET", `cookie/${name}`)]).toMatchObject([
          name,
          { status: 404, value: { error: "no such cookie" } },
        ]);
      for (const part of [".", ".."])
        expect(await command("GET", `cookie/${part}/a`)).toMatchObject({ value: { message: "Unknown command." } });
    });

    it("waits while a person has the session, or refuses", async () => {
      const handoff = (status: string, mode: string) => {
        const body = { id: "h1", status, on_automation: mode, remaining_ms: 60_000 };
        return instance.call("POST", "/_instance/handoff", JSON.stringify(body));
      };
      expect((await handoff("taken", "refuse")).status).toBe(204);
      expect(await command("POST", "url", { url: page("late") })).toMatchObject({
        status: 409,
        value: { error: "unknown error", message: expect.stringContaining("A person controls") as unknown },
      });
      await handoff("released", "refuse");
      await handoff("taken", "wait");
      const waiting = command("POST", "url", { url: page("<title>after</title>") });
      await handoff("released", "wait");
      expect((await waiting).status).toBe(200);
      expect(await command("GET", "title")).toMatchObject({ value: "after" });
      expect(await command("GET", "title")).toMatchObject({ status: 200 });
    });

    it("reports the end of a browser, and starts another driver for the next", async () => {
      await command("POST", "url", { url: page("before") });
      killBrowser(instance.config.session_dir);
      const restarted = await instance.event(({ type }) => type === "browser_restarted");
      await instance.ready(restarted);
      expect(await command("GET", "title")).toMatchObject({ status: 404, value: { error: "invalid session id" } });
      expect((await create()).status).toBe(200);
      expect((await command("GET", "title")).status).toBe(200);
    });

    it("ends with its session", async () => {
      await using other = await runInstance({ chromium });
      await other.assign({});
      expect(await ask(other, "POST", "/wd/session", {})).toMatchObject({
        status: 200,
        value: { driverVersion: expect.stringMatching(/^\d+\./) as unknown },
      });
      const drivers = childrenOf(other.process.pid ?? 0, "chromedriver");
      expect(drivers).toHaveLength(1);
      await other.call("POST", "/_instance/stop");
      await other.exited;
      await eventually("the driver ends", () => drivers.every((pid) => commandLineOf(pid) === ""));
    });
  });

  it("names the package of a missing driver", async () => {
    vi.stubEnv("PATH", "/nonexistent");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    // Packages of Debian have the driver in the folder of the browser, where it is also looked for.
    const folder = mkdtempSync(join(tmpdir(), "shoal-no-driver-"));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const executable = join(folder, basename(chromium.executable));
    symlinkSync(chromium.executable, executable);
    await using instance = await runInstance({ chromium: { ...chromium, executable } });
    await instance.assign({});
    const answer = await ask(instance, "POST", "/wd/session", {});
    expect(answer).toMatchObject({ status: 500, value: { error: "session not created" } });
    expect((answer.value as { readonly message: string }).message).toContain("package chromium-driver");
    expect(await ask(instance, "GET", "/wd/session/url")).toMatchObject({ value: { error: "invalid session id" } });
  });
});

function childrenOf(parent: number, name: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => commandLineOf(pid).includes(name) && parentOf(pid) === parent);
}

/** Nothing if the process has ended. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
