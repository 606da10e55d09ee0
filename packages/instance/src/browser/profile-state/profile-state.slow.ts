import { eventuallyPasses } from "@shoal/testkit";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { assignFiles, exchange, openPage, type Page } from "../../testing/profile-browser.ts";
import { runInstance } from "../../testing/run-instance.ts";
import { readStateOf } from "./archive.ts";
import type { SavedState } from "./saved-state.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

let site: Server;
let origin: string;
beforeAll(async () => {
  site = createServer((incoming, response) => {
    if (incoming.url === "/login")
      response.setHeader("set-cookie", [
        "kept=1; Max-Age=86400; HttpOnly",
        "session=2; SameSite=Lax",
        "path=3; Path=/inner; Max-Age=86400",
      ]);
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><title>${incoming.headers.cookie ?? "nobody"}</title>`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const putItem = `new Promise((resolve, reject) => { const opening = indexedDB.open("notes", 1); opening.onupgradeneeded = () => opening.result.createObjectStore("notes"); opening.onerror = reject; opening.onsuccess = () => { const write = opening.result.transaction("notes", "readwrite"); write.objectStore("notes").put("written", "one"); write.oncomplete = () => resolve(true); }; })`;
const getItem = `new Promise((resolve) => { const opening = indexedDB.open("notes", 1); opening.onupgradeneeded = () => opening.result.createObjectStore("notes"); opening.onsuccess = () => { const read = opening.result.transaction("notes").objectStore("notes").get("one"); read.onsuccess = () => resolve(read.result ?? null); }; })`;

async function signIn(page: Page): Promise<void> {
  await page.goto(`${origin}/login`);
  await page.evaluate(
    `localStorage.setItem("theme", "dark \u{1f319}"); localStorage.setItem("plain", "caf\u00e9"); ${putItem}`,
  );
}

async function whatIsThere(page: Page): Promise<unknown> {
  await page.goto(`${origin}/`);
  return {
    cookies: String(await page.evaluate("document.title"))
      .split("; ")
      .sort(),
    theme: await page.evaluate(`localStorage.getItem("theme") + localStorage.getItem("plain")`),
    note: await page.evaluate(getItem),
  };
}

const everything = { cookies: ["kept=1", "session=2"], theme: "dark \u{1f319}caf\u00e9", note: "written" };
const nothing = { cookies: ["nobody"], theme: 0, note: null };

interface Entry {
  readonly name: string;
  readonly content?: string;
  readonly type?: string;
}

function archiveOf(...entries: readonly Entry[]): Buffer {
  const parts = entries.flatMap(({ name, content: text = "", type = "0" }) => {
    const content = Buffer.from(text);
    const header = tarHeader({ name, sizeBytes: content.length, modifiedAtSeconds: 0 });
    header.write("        ", 148, "latin1");
    header.write(type, 156, "latin1");
    header.write("/tmp", 157, "latin1");
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
      "latin1",
    );
    return [header, content, tarPadding(content.length)];
  });
  return zstdCompressSync(Buffer.concat([...parts, tarEnd]));
}

describeChromium("the profile of a session", (chromium) => {
  let archive: Buffer;

  it("is saved at the end, and another browser continues with it", async () => {
    await using first = await runInstance({ chromium });
    expect(await first.assign({ saves_profile: true })).toBe(200);
    const page = await openPage(first);
    await signIn(page);
    const saved = await exchange(first, "POST", "profile/final");
    expect(saved.status).toBe(200);
    archive = saved.body;
    // A client that could not store the archive repeats the request.
    expect((await exchange(first, "POST", "profile/final")).status).toBe(200);
    const state = await readStateOf(Readable.from([archive]));
    expect(state).toMatchObject({
      // A browser that ends soon after its start may not have written local storage, which is then only in this file.
      apply: expect.stringMatching(/^(?:cookies|all)$/) as string,
      origins: [
        {
          origin,
          localStorage: [
            { name: "plain", value: "café" },
            { name: "theme", value: "dark \u{1f319}" },
          ],
        },
      ],
    });
    expect(
      state?.cookies
        .map(({ name, value, httpOnly, path }) => ({ name, value, httpOnly, path }))
        .sort((a, b) => a.name.localeCompare(b.name)),
    ).toEqual([
      { name: "kept", value: "1", httpOnly: true, path: "/" },
      { name: "path", value: "3", httpOnly: false, path: "/inner" },
      { name: "session", value: "2", httpOnly: false, path: "/" },
    ]);
    expect(archive.length).toBeLessThan(1_000_000);

    await using second = await runInstance({ chromium });
    await second.assign({});
    const before = await openPage(second);
    expect(await whatIsThere(before)).toEqual(nothing);
    expect((await assignFiles(second, { profile: archive })).status).toBe(200);
    const after = await openPage(second);
    expect(await whatIsThere(after)).toEqual(everything);
    await after.goto(`${origin}/inner`);
    expect(await after.evaluate("document.title")).toContain("path=3");
  });

  it("is saved while the session runs, with its present cookies", async () => {
    await using first = await runInstance({ chromium });
    await first.assign({});
    const page = await openPage(first);
    await signIn(page);
    // Chromium writes local storage some seconds late.
    let state: SavedState | undefined;
    let saved: Awaited<ReturnType<typeof exchange>> | undefined;
    await expect
      .poll(async () => {
        saved = await exchange(first, "GET", "profile");
        state = await readStateOf(Readable.from([saved.body]));
        return state?.origins.length;
      })
      .toBe(1);
    expect(state).toMatchObject({
      apply: "cookies",
      cookies: expect.arrayContaining([expect.objectContaining({ name: "session", expires: -1 })]) as unknown,
    });
    expect(await whatIsThere(page)).toEqual(everything);

    await using second = await runInstance({ chromium });
    await second.assign({});
    expect((await assignFiles(second, { ...(saved && { profile: saved.body }) })).status).toBe(200);
    expect(await whatIsThere(await openPage(second))).toEqual(everything);
  });

  it("contains the local storage of open pages that the browser did not write", async () => {
    await using instance = await runInstance({ chromium });
    expect(await instance.assign({ saves_profile: true })).toBe(200);
    // With a file in place of its folder, the browser keeps local storage in memory only.
    await mkdir(join(instance.config.session_dir, "profile", "Default"), { recursive: true });
    await rm(join(instance.config.session_dir, "profile", "Default", "Local Storage"), {
      recursive: true,
      force: true,
    });
    await writeFile(join(instance.config.session_dir, "profile", "Default", "Local Storage"), "");
    const page = await openPage(instance);
    await page.goto(`${origin}/`);
    await page.evaluate(`localStorage.setItem("only in", "memory")`);
    const { body } = await exchange(instance, "POST", "profile/final");
    expect(await readStateOf(Readable.from([body]))).toMatchObject({
      apply: "all",
      origins: [{ origin, localStorage: [{ name: "only in", value: "memory" }] }],
    });
  });

  it("contains the present local storage after many writes and removals", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({});
    const page = await openPage(instance);
    await page.goto(`${origin}/`);
    const fill = `for (let round = 0; round < 3; round += 1) for (let index = 0; index < 6000; index += 1) { if ((index + round) % 3 === 0) localStorage.removeItem("key " + index); else localStorage.setItem("key " + index, "value " + index + " of round " + round + " ".repeat(index % 200) + (index % 7 === 0 ? "\u2603" : "")); }`;
    await page.evaluate(fill);
    const there = JSON.parse(String(await page.evaluate("JSON.stringify(Object.entries(localStorage))"))) as [
      string,
      string,
    ][];
    expect(there).toHaveLength(4000);
    const saved = async (...how: [method: string, path: string]) => {
      const state = await readStateOf(Readable.from([(await exchange(instance, ...how)).body]));
      return state?.origins
        .find((entry) => entry.origin === origin)
        ?.localStorage.map(({ name, value }) => [name, value])
        .sort();
    };
    // A full Chromium that ends before it has written the page's data to its files loses the data.
    await eventuallyPasses(async () => {
      expect(await saved("GET", "profile")).toHaveLength(4000);
    });
    expect(await saved("POST", "profile/final")).toEqual(there.sort());
  });

  it("can consist of cookies and local storage without a folder", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({});
    const state: SavedState = {
      version: 1,
      apply: "all",
      cookies: [
        {
          name: "host",
          value: "only",
          domain: "127.0.0.1",
          path: "/",
          expires: -1,
          httpOnly: false,
          secure: false,
          sameSite: "Lax",
        },
        {
          name: "domain",
          value: "wide",
          domain: ".example.com",
          path: "/",
          expires: 4_000_000_000,
          httpOnly: true,
          secure: true,
          sameSite: "None",
        },
        {
          name: "narrow",
          value: "x",
          domain: "example.com",
          path: "/",
          expires: 4_000_000_000,
          httpOnly: true,
          secure: true,
          sameSite: "Strict",
        },
      ],
      origins: [
        {
          origin,
          localStorage: [
            { name: "theme", value: "dark \u{1f319}" },
            { name: "plain", value: "café" },
          ],
        },
        { origin: "https://example.com", localStorage: [{ name: "a", value: "b" }] },
      ],
    };
    expect(
      (
        await assignFiles(instance, {
          profile: archiveOf({ name: "shoal/state.json", content: JSON.stringify(state) }),
        })
      ).status,
    ).toBe(200);
    const page = await openPage(instance);
    expect(await whatIsThere(page)).toEqual({ ...everything, cookies: ["host=only"], note: null });
    const saved = await readStateOf(Readable.from([(await exchange(instance, "POST", "profile/final")).body]));
    expect(saved?.origins.map((entry) => entry.origin).sort()).toEqual([origin, "https://example.com"].sort());
    expect(saved?.cookies.map(({ name, domain }) => `${name} ${domain}`).sort()).toEqual([
      "domain .example.com",
      "host 127.0.0.1",
      "narrow example.com",
    ]);
  });

  it("stays unchanged when an archive is invalid or leads out of the folder", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({});
    const page = await openPage(instance);
    await signIn(page);
    const hostile: [string, Buffer][] = [
      ["no archive", Buffer.from("nonsense")],
      ["cut off", archive.subarray(0, archive.length - 2000)],
      ["above", archiveOf({ name: "../outside", content: "x" })],
      ["absolute", archiveOf({ name: "/tmp/outside", content: "x" })],
      ["a link", archiveOf({ name: "Default", type: "2" }, { name: "Default/outside", content: "x" })],
      ["a hard link", archiveOf({ name: "Default", type: "1" })],
      ["a device", archiveOf({ name: "Default/zero", type: "3" })],
      ["twice", archiveOf({ name: "Default/a", content: "x" }, { name: "Default/a", content: "y" })],
      ["a file as a folder", archiveOf({ name: "Default", content: "x" }, { name: "Default/a", content: "y" })],
      ["a broken state", archiveOf({ name: "shoal/state.json", content: "{}" })],
    ];
    for (const [what, body] of hostile) {
      const answer = await assignFiles(instance, { profile: body });
      expect(`${what} ${String(answer.status)} ${answer.body.toString()}`).toContain(`${what} 400`);
    }
    expect(await whatIsThere(page)).toEqual(everything);
  });

  it("is saved before a session with an expired timeout ends", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 1, saves_profile: true });
    await instance.event(({ type }) => type === "expired");
    expect((await instance.call("GET", "/fs/list_files?path=/")).status).toBe(503);
    const { status, body } = await exchange(instance, "POST", "profile/final");
    expect(status).toBe(200);
    expect(await readStateOf(Readable.from([body]))).toMatchObject({ cookies: [], origins: [] });
    expect((await exchange(instance, "POST", "stop")).status).toBe(204);
    expect(await instance.exited).toBe(0);
  });
});
