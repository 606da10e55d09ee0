import { eventuallyPasses } from "@shoal/testkit";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { commandLineOf, killAll, killBrowser, processesWith } from "../../testing/processes.ts";
import { assignFiles, exchange, openPage, type Page, savedState } from "../../testing/profile-browser.ts";
import { type RunningInstance, runInstance } from "../../testing/run-instance.ts";
import { RestorableState } from "./restorable-state.ts";
import type { SavedState } from "./saved-state.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

let site: Server;
let origin: string;
beforeAll(async () => {
  site = createServer((request, response) => {
    const name = /^\/login\/(\w+)$/.exec(request.url ?? "")?.[1];
    if (name !== undefined)
      response.setHeader("set-cookie", [`stored=${name}; Max-Age=86400; HttpOnly`, `visit=${name}`]);
    response.setHeader("content-type", "text/html").end("<!doctype html><title>site</title>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const note = (value: string) =>
  `new Promise((resolve, reject) => { const opening = indexedDB.open("notes", 1); opening.onupgradeneeded = () => opening.result.createObjectStore("notes"); opening.onerror = reject; opening.onsuccess = () => { const write = opening.result.transaction("notes", "readwrite"); write.objectStore("notes").put("${value}", "one"); write.oncomplete = () => resolve(true); }; })`;
const noted = `new Promise((resolve) => { const opening = indexedDB.open("notes", 1); opening.onupgradeneeded = () => opening.result.createObjectStore("notes"); opening.onsuccess = () => { const read = opening.result.transaction("notes").objectStore("notes").get("one"); read.onsuccess = () => resolve(read.result ?? null); }; })`;

async function logIn(page: Page, name: string): Promise<void> {
  await page.goto(`${origin}/login/${name}`);
  await page.evaluate(`localStorage.setItem("user", "${name}"); ${note(name)}`);
}

async function storages(instance: RunningInstance): Promise<unknown> {
  const page = await openPage(instance);
  await page.goto(`${origin}/`);
  return { local: await page.evaluate(`localStorage.getItem("user")`), indexed: await page.evaluate(noted) };
}

const cookiesOf = ({ cookies }: SavedState): string[] => cookies.map(({ name, value }) => `${name}=${value}`).sort();
const cookies = (name: string): string[] => [`stored=${name}`, `visit=${name}`];

async function crash(instance: RunningInstance): Promise<void> {
  killBrowser(instance.config.session_dir);
  await instance.ready(await instance.event(({ type }) => type === "browser_restarted"));
}

function archiveOf(state: SavedState): Buffer {
  const content = Buffer.from(JSON.stringify(state));
  const header = tarHeader({ name: "shoal/state.json", sizeBytes: content.length, modifiedAtSeconds: 0 });
  return zstdCompressSync(Buffer.concat([header, content, tarPadding(content.length), tarEnd]));
}

describeChromium("a profile whose browser crashes", (chromium) => {
  let archive: Buffer;
  // A full Chromium starts slowly; the slow suite tries it at more moments.
  const itOfShell = it.runIf(chromium.kind === "headless_shell");
  beforeAll(async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ saves_profile: true });
    await logIn(await openPage(instance), "loaded");
    archive = (await exchange(instance, "POST", "profile/final")).body;
  });

  it("keeps loaded cookies, local storage and databases", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ saves_profile: true });
    expect((await assignFiles(instance, { profile: archive })).status).toBe(200);
    await crash(instance);
    expect(cookiesOf(await savedState(instance, "GET", "profile"))).toEqual(cookies("loaded"));
    expect(await storages(instance)).toEqual({ local: "loaded", indexed: "loaded" });
    expect(cookiesOf(await savedState(instance, "POST", "profile/final"))).toEqual(cookies("loaded"));
  });

  itOfShell("keeps the saved state, and no cookie that was deleted before the save", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ saves_profile: true });
    expect((await assignFiles(instance, { profile: archive })).status).toBe(200);
    const page = await openPage(instance);
    await logIn(page, "saved");
    await page.evaluate(`document.cookie = "visit=; max-age=0"`);
    const before = await savedState(instance, "GET", "profile");
    await crash(instance);
    const after = await savedState(instance, "POST", "profile/final");
    expect([cookiesOf(before), cookiesOf(after)]).toEqual([["stored=saved"], ["stored=saved"]]);
  });

  it("keeps the loaded profile when the browser crashes during the load", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ saves_profile: true });
    await instance.ready();
    const old = new Set(instance.browserPids());
    const loading = assignFiles(instance, { profile: archive });
    await eventuallyPasses(() => {
      const started = instance
        .browserPids()
        .filter((pid) => !old.has(pid) && commandLineOf(pid).includes("--remote-debugging-pipe"));
      expect(started).not.toEqual([]);
      killAll(started);
    });
    expect((await loading).status).toBe(200);
    expect(cookiesOf(await savedState(instance, "POST", "profile/final"))).toEqual(cookies("loaded"));
  });

  itOfShell("is saved whole or not at all when the crash comes during a save", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ saves_profile: true });
    expect((await assignFiles(instance, { profile: archive })).status).toBe(200);
    const saving = exchange(instance, "GET", "profile");
    await crash(instance);
    const { status, body } = await saving;
    expect([200, 503]).toContain(status);
    await using next = await runInstance({ chromium });
    await next.assign({});
    const whole = status === 200 ? body : (await exchange(instance, "GET", "profile")).body;
    expect((await assignFiles(next, { profile: whole })).status).toBe(200);
    expect(await storages(next)).toEqual({ local: "loaded", indexed: "loaded" });
    expect(cookiesOf(await savedState(next, "POST", "profile/final"))).toEqual(cookies("loaded"));
  });

  itOfShell("keeps an imported local storage that Chromium has not written yet", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ saves_profile: true });
    const imported: SavedState = {
      version: 1,
      apply: "all",
      cookies: [],
      origins: [{ origin, localStorage: [{ name: "user", value: "imported" }] }],
    };
    expect((await assignFiles(instance, { profile: archiveOf(imported) })).status).toBe(200);
    expect((await savedState(instance, "GET", "profile")).origins).toEqual(imported.origins);
    await crash(instance);
    expect(await storages(instance)).toEqual({ local: "imported", indexed: null });
    expect((await savedState(instance, "POST", "profile/final")).origins).toEqual(imported.origins);
  });

  itOfShell("keeps its cookies when only Chromium's network service crashes", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ saves_profile: true });
    expect((await assignFiles(instance, { profile: archive })).status).toBe(200);
    killAll(
      processesWith(instance.config.session_dir).filter((pid) =>
        commandLineOf(pid).includes("network.mojom.NetworkService"),
      ),
    );
    expect(cookiesOf(await savedState(instance, "GET", "profile"))).toEqual(cookies("loaded"));
    expect(cookiesOf(await savedState(instance, "POST", "profile/final"))).toEqual(cookies("loaded"));
  });
});

it("neither reads nor saves a browser whose state could not be restored", async () => {
  let refuses = false;
  const cookie = {
    name: "a",
    value: "1",
    domain: "example.com",
    path: "/",
    expires: -1,
    httpOnly: false,
    secure: false,
  };
  const answers: Record<string, () => unknown> = {
    "Storage.getCookies": () => ({ cookies: [{ ...cookie, session: true }] }),
    "SystemInfo.getProcessInfo": () => ({ processInfo: [] }),
    "Storage.setCookies": () => ({}),
    "Storage.clearCookies": () => {
      if (refuses) throw new Error("no cookies today");
      return {};
    },
  };
  const cdp = {
    send: (method: string) => Promise.resolve().then(() => answers[method]?.()),
  } as unknown as CdpConnection;
  let restore: ((cdp: CdpConnection) => Promise<void>) | undefined;
  const state = new RestorableState(
    {
      ready: false,
      cdp: () => Promise.resolve(cdp),
      keepState({ beforeReady }) {
        restore = beforeReady;
      },
    },
    () => Promise.resolve([]),
  );
  state.start();
  expect(await state.read(cdp)).toMatchObject([cookie]);
  refuses = true;
  await restore?.(cdp);
  await expect(state.read(cdp)).rejects.toThrow(/no cookies today.*Nothing was saved/);
  refuses = false;
  expect(await state.read(cdp)).toMatchObject([cookie]);
});
