import Kernel from "@onkernel/sdk";
import type { CreateBrowser, ImportStorageState } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { zstdDecompressSync } from "node:zlib";
import { chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { chromiums, killAll } from "../testing/processes.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { runService, type TestService, useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

/** A site with a sign-in: posting a name sets a persistent and a session cookie, and the page shows the user. */
let site: Site;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    const name = /^\/sign-in\?name=(\w+)$/.exec(request.url ?? "")?.[1];
    if (name !== undefined)
      response.setHeader("set-cookie", [`user=${name}; Max-Age=86400; HttpOnly`, `visit=${name}; SameSite=Lax`]);
    const user = /(?:^|; )user=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? "nobody";
    const visit = /(?:^|; )visit=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? "none";
    response.setHeader("content-type", "text/html").end(`<!doctype html><title>${user} ${visit}</title>`);
  });
});
afterAll(() => site.close());

async function onPage<Result>(cdpUrl: string, use: (page: Page) => Promise<Result>): Promise<Result> {
  const client = await chromium.connectOverCDP(cdpUrl);
  try {
    return await use(await firstPageOf(client));
  } finally {
    await client.close();
  }
}

/** Signs in, and stores data in local storage and a database. */
const signIn = (cdpUrl: string, name: string): Promise<void> =>
  onPage(cdpUrl, async (page) => {
    await page.goto(`${site.url}sign-in?name=${name}`);
    await page.evaluate(
      (value) =>
        new Promise<void>((resolve, reject) => {
          localStorage.setItem("user", value);
          const opening = indexedDB.open("notes", 1);
          opening.onupgradeneeded = () => opening.result.createObjectStore("notes");
          opening.onerror = () => {
            reject(new Error("no database"));
          };
          opening.onsuccess = () => {
            const write = opening.result.transaction("notes", "readwrite");
            write.objectStore("notes").put(value, "user");
            write.oncomplete = () => {
              resolve();
            };
          };
        }),
      name,
    );
  });

/** The browser's identity on the site, by cookies, local storage and database. */
const whoIs = (cdpUrl: string): Promise<{ cookies: string; stored: string | null; noted: unknown }> =>
  onPage(cdpUrl, async (page) => {
    await page.goto(site.url);
    const noted = await page.evaluate(
      () =>
        new Promise<unknown>((resolve) => {
          const opening = indexedDB.open("notes", 1);
          opening.onupgradeneeded = () => opening.result.createObjectStore("notes");
          opening.onsuccess = () => {
            const read = opening.result.transaction("notes").objectStore("notes").get("user");
            read.onsuccess = () => {
              resolve(read.result ?? null);
            };
          };
        }),
    );
    return { cookies: await page.title(), stored: await page.evaluate(() => localStorage.getItem("user")), noted };
  });

const is = (name: string) => ({ cookies: `${name} ${name}`, stored: name, noted: name });
const nobody = { cookies: "nobody none", stored: null, noted: null };

async function session<Result>(
  { shoal }: Pick<TestService, "shoal">,
  body: CreateBrowser,
  use: (cdpUrl: string, id: string) => Promise<Result>,
): Promise<Result> {
  const { session_id: id, cdp_ws_url } = await shoal.browsers.create(body);
  try {
    return await use(cdp_ws_url, id);
  } finally {
    await shoal.browsers.delete(id);
  }
}

describe.each(placements)("profiles with state in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    const test = useService(() => [
      "--placement",
      placement,
      "--allow-private-hosts",
      site.host,
      "--profile-checkpoint-seconds",
      "0",
    ]);
    const saving = (name: string) => ({ profile: { name, save_changes: true } });
    const reading = (name: string) => ({ profile: { name } });

    it("keeps a login from one session to the next, only if requested", async () => {
      const { profiles, browsers } = test.shoal;
      const made = await profiles.create({ name: "ada" });
      expect(await profiles.download("ada")).toBeUndefined();
      await session(test, saving("ada"), async (url, id) => {
        expect(await browsers.get(id)).toMatchObject({
          profile: { id: made.id, name: "ada" },
          profile_save_changes: true,
        });
        expect(await whoIs(url)).toEqual(nobody);
        await signIn(url, "ada");
      });
      const saved = await profiles.get("ada");
      expect(saved).toMatchObject({
        version: 1,
        size_bytes: expect.any(Number) as number,
        saved_at: expect.any(String) as string,
        last_used_at: expect.any(String) as string,
      });
      await session(test, { ...reading("ada"), start_url: site.url }, async (url, id) => {
        expect(await browsers.get(id)).toMatchObject({ profile_save_changes: false });
        await onPage(url, (page) => page.waitForFunction("document.title === 'ada ada'"));
        expect(await whoIs(url)).toEqual(is("ada"));
        await signIn(url, "eve");
      });
      await session(test, reading("ada"), async (url) => {
        expect(await whoIs(url)).toEqual(is("ada"));
      });
      expect((await profiles.get("ada")).version).toBe(1);
      await session(test, {}, async (url) => {
        expect(await whoIs(url)).toEqual(nobody);
      });
    });

    it("has one writer, and cannot be deleted while in use", async () => {
      const { profiles, browsers } = test.shoal;
      await profiles.create({ name: "held" });
      await session(test, saving("held"), async (_url, id) => {
        const refused = await refusalOf(browsers.create(saving("held")));
        expect(refused).toMatchObject({ status: 409, code: "profile_in_use" });
        expect(refused.message).toContain(id);
        await using reader = await browsers.create(reading("held"));
        expect(reader.profile_save_changes).toBe(false);
        expect(await codeOf(profiles.delete("held"))).toBe("409 profile_in_use");
        expect(await codeOf(profiles.storageState.import("held", { cookies: [], origins: [] }))).toBe(
          "409 profile_in_use",
        );
      });
      await session(test, saving("held"), async () => undefined);
      await profiles.delete("held");
      expect(await codeOf(browsers.create(reading("held")))).toBe("404 not_found");
    });

    it("can be loaded into a running session once", async () => {
      const { profiles, browsers } = test.shoal;
      await profiles.create({ name: "late" });
      await session(test, saving("late"), (url) => signIn(url, "late"));
      await session(test, {}, async (url, id) => {
        expect(await whoIs(url)).toEqual(nobody);
        expect(await codeOf(browsers.saveProfile(id))).toBe("409 conflict");
        expect(await browsers.update(id, saving("late"))).toMatchObject({
          profile: { name: "late" },
          profile_save_changes: true,
        });
        expect(await whoIs(url)).toEqual(is("late"));
        expect(await codeOf(browsers.update(id, saving("late")))).toBe("409 conflict");
        await signIn(url, "later");
      });
      await session(test, reading("late"), async (url) => {
        expect(await whoIs(url)).toEqual(is("later"));
      });
    });

    it("is saved during a session, and after its timeout", async () => {
      const { profiles, browsers } = test.shoal;
      await profiles.create({ name: "often" });
      const { session_id: id, cdp_ws_url } = await browsers.create({ ...saving("often"), timeout_seconds: 30 });
      // A connected client keeps the session in use, however long the others take.
      await onPage(cdp_ws_url, async () => {
        await signIn(cdp_ws_url, "first");
        expect(await browsers.saveProfile(id)).toMatchObject({ name: "often", version: 1 });
        await session(test, reading("often"), async (url) => {
          expect((await whoIs(url)).cookies).toBe("first first");
        });
        await signIn(cdp_ws_url, "second");
      });
      await eventually(
        "it has ended automatically",
        async () => (await browsers.get(id, { include_deleted: true })).ended_reason === "timeout",
      );
      await session(test, reading("often"), async (url) => {
        expect(await whoIs(url)).toEqual(is("second"));
      });
      expect((await profiles.versions.list("often")).items).toMatchObject([
        { version: 2, source: "session", session_id: id, is_current: true },
        { version: 1, source: "save", session_id: id },
      ]);
    });

    it("keeps loaded and saved state when the browser crashes once", async () => {
      const { profiles, browsers } = test.shoal;
      await profiles.create({ name: "restarted" });
      await session(test, saving("restarted"), (url) => signIn(url, "loaded"));
      const crashing = async (name: string | undefined) =>
        session(test, saving("restarted"), async (url, id) => {
          if (name !== undefined) {
            await signIn(url, name);
            await browsers.saveProfile(id);
          }
          killAll(chromiums(test.processes()));
          await eventually("it is there again", async () => (await browsers.get(id)).browser_restarts === 1);
        });
      await crashing(undefined);
      await session(test, reading("restarted"), async (url) => {
        expect(await whoIs(url)).toEqual(is("loaded"));
      });
      await crashing("saved");
      await session(test, reading("restarted"), async (url) => {
        expect((await whoIs(url)).cookies).toBe("saved saved");
      });
      expect((await profiles.versions.list("restarted")).items.map(({ version, source }) => [version, source])).toEqual(
        [
          [4, "session"],
          [3, "save"],
          [2, "session"],
          [1, "session"],
        ],
      );
      expect(await profiles.get("restarted")).not.toHaveProperty("last_save_error");
    });

    it("has its last saved state when the browser has crashed for good", async () => {
      const { profiles, browsers } = test.shoal;
      await profiles.create({ name: "crashing" });
      const { session_id: id, cdp_ws_url } = await browsers.create({ ...saving("crashing"), timeout_seconds: 600 });
      const crash = async () => {
        const client = await eventually("it accepts clients", () =>
          chromium.connectOverCDP(cdp_ws_url).catch(() => undefined),
        );
        // The crash leaves the call without an answer.
        (await client.newBrowserCDPSession()).send("Browser.crash").catch(() => undefined);
        await new Promise((resolve) => client.once("disconnected", resolve));
      };
      await signIn(cdp_ws_url, "kept");
      await browsers.saveProfile(id);
      await signIn(cdp_ws_url, "lost");
      await crash();
      await eventually("it is there again", async () => (await browsers.get(id)).browser_restarts === 1);
      await crash();
      await eventually(
        "it has ended",
        async () => (await browsers.get(id, { include_deleted: true })).ended_reason === "browser_crashed",
      );
      expect((await profiles.versions.list("crashing")).items).toMatchObject([{ version: 1, session_id: id }]);
      await session(test, saving("crashing"), async (url) => {
        expect((await whoIs(url)).cookies).toBe("kept kept");
      });
    });

    it("can be restored and copied, and is deleted with its versions", async () => {
      const { profiles } = test.shoal;
      await profiles.create({ name: "versions" });
      for (const name of ["one", "two"]) await session(test, saving("versions"), (url) => signIn(url, name));
      expect(await profiles.clone("versions", { name: "copy" })).toMatchObject({ name: "copy", version: 1 });
      expect(await profiles.rollback("versions", { version: 1 })).toMatchObject({ version: 3 });
      expect(await codeOf(profiles.rollback("versions", { version: 9 }))).toBe("404 not_found");
      const { items } = await profiles.versions.list("versions");
      expect(items.map(({ version, source, is_current }) => [version, source, is_current])).toEqual([
        [3, "rollback", true],
        [2, "session", false],
        [1, "session", false],
      ]);
      await session(test, reading("versions"), async (url) => {
        expect(await whoIs(url)).toEqual(is("one"));
      });
      await profiles.delete("versions");
      await session(test, reading("copy"), async (url) => {
        expect(await whoIs(url)).toEqual(is("two"));
      });
      await profiles.delete("copy");
    });

    it("exchanges cookies and local storage with Playwright", async () => {
      const { profiles } = test.shoal;
      await profiles.create({ name: "exchange" });
      expect(await profiles.storageState.get("exchange")).toBeUndefined();
      const origin = new URL(site.url).origin;
      const cookie = {
        domain: new URL(site.url).hostname,
        path: "/",
        expires: -1,
        httpOnly: false,
        secure: false,
        sameSite: "Lax" as const,
      };
      await profiles.storageState.import("exchange", {
        cookies: [
          { ...cookie, name: "user", value: "imported" },
          { ...cookie, name: "visit", value: "imported" },
        ],
        origins: [{ origin, localStorage: [{ name: "user", value: "imported" }] }],
      });
      await session(test, saving("exchange"), async (url) => {
        expect(await whoIs(url)).toEqual({ ...is("imported"), noted: null });
      });
      const state = await profiles.storageState.get("exchange");
      if (state === undefined) throw new Error("Nothing was saved.");
      expect(state.origins).toEqual([{ origin, localStorage: [{ name: "user", value: "imported" }] }]);
      await session(test, {}, async (url) => {
        const client = await chromium.connectOverCDP(url);
        const page = await (
          await client.newContext({
            storageState: {
              cookies: state.cookies.map((cookie) => ({ ...cookie, sameSite: "Lax" as const })),
              origins: state.origins,
            },
          })
        ).newPage();
        await page.goto(site.url);
        expect([await page.title(), await page.evaluate(() => localStorage.getItem("user"))]).toEqual([
          "imported imported",
          "imported",
        ]);
        await client.close();
      });
      const wrong: [ImportStorageState, string][] = [
        [{ cookies: [], origins: [{ origin: "example.com", localStorage: [] }] }, "body.origins.0.origin"],
        [{ cookies: [{ ...cookie, name: "a", value: "b", path: "x" }], origins: [] }, "body.cookies.0.path"],
        [{ cookies: [{ ...cookie, name: "a", value: "b", sameSite: "None" }], origins: [] }, "body.cookies.0.secure"],
      ];
      for (const [body, field] of wrong)
        expect((await refusalOf(profiles.storageState.import("exchange", body))).message).toContain(field);
    });

    it("is downloaded as an archive, and stored encrypted", async () => {
      const { profiles } = test.shoal;
      await profiles.create({ name: "archive" });
      await session(test, saving("archive"), (url) => signIn(url, "findable"));
      const download = await profiles.download("archive");
      if (download === undefined) throw new Error("Nothing was saved.");
      const packed = await buffer(Readable.from(download.stream));
      const tar = zstdDecompressSync(packed);
      const plain = await profiles.download("archive", { format: "tar" });
      expect((await buffer(Readable.from(plain?.stream ?? []))).equals(tar)).toBe(true);
      const folder = mkdtempSync(join(tmpdir(), "shoal-profile-"));
      try {
        writeFileSync(join(folder, "profile.tar"), tar);
        const names = execFileSync("tar", ["-tf", join(folder, "profile.tar")], { encoding: "utf8" })
          .trim()
          .split("\n");
        expect(names[0]).toBe("shoal/state.json");
        expect(names).toEqual(expect.arrayContaining(["Default/Cookies", "Default/Local Storage/leveldb/CURRENT"]));
        expect(names.filter((name) => /cache|singleton/i.test(name))).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true });
      }
      expect(tar.includes("findable")).toBe(true);
      const blobs = join(test.dataDir, "blobs", "profiles");
      const stored = readdirSync(blobs).map((name) => readFileSync(join(blobs, name)));
      expect(stored.length).toBeGreaterThan(0);
      for (const blob of stored)
        expect([blob.includes("findable"), blob.subarray(0, 6).toString("latin1")]).toEqual([false, "shoal\u0001"]);
      expect(await codeOf(profiles.download("archive", { version: 7 }))).toBe("404 not_found");
      await eventually("the download is in the audit log", async () => {
        const { items } = await test.shoal.auditLogs.list({
          start: new Date(Date.now() - 3_600_000).toISOString(),
          end: new Date(Date.now() + 3_600_000).toISOString(),
        });
        return items.some(({ operation, path }) => operation === "profiles.download" && path.includes("archive"));
      });
    });

    it("is loaded by the browsers of a pool, also after a change", async () => {
      const { browserPools, profiles } = test.shoal;
      const { id } = await profiles.create({ name: "pooled" });
      await session(test, saving("pooled"), (url) => signIn(url, "before"));
      const pool = await browserPools.create({
        name: "with-profile",
        size: 1,
        fill_rate_per_minute: 100,
        profile: { name: "pooled" },
      });
      expect(pool).toMatchObject({
        profile_id: id,
        browser_pool_config: { profile: { name: "pooled" }, refresh_on_profile_update: true },
      });
      {
        await using lease = await browserPools.acquire("with-profile", { acquire_timeout_seconds: 60 });
        expect(lease).toMatchObject({ profile: { id }, profile_save_changes: false });
        expect(await whoIs(lease?.cdp_ws_url ?? "")).toEqual(is("before"));
      }
      await eventually(
        "another one is warm",
        async () => (await browserPools.get("with-profile")).available_count === 1,
      );
      await session(test, saving("pooled"), (url) => signIn(url, "after"));
      {
        await using lease = await browserPools.acquire("with-profile", { acquire_timeout_seconds: 60 });
        expect(await whoIs(lease?.cdp_ws_url ?? "")).toEqual(is("after"));
      }
      expect(await codeOf(profiles.delete("pooled"))).toBe("409 profile_in_use");
      expect(await browserPools.update("with-profile", { profile: { id: "" } })).not.toHaveProperty("profile_id");
      expect(await codeOf(browserPools.update("with-profile", { refresh_on_profile_update: true }))).toBe(
        "400 bad_request",
      );
      await browserPools.delete("with-profile", { force: true });
    });

    it("answers the hosted service's SDK", async () => {
      const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
      await kernel.profiles.create({ name: "kernel" });
      const made = await kernel.browsers.create({ profile: { name: "kernel", save_changes: true } });
      await signIn(made.cdp_ws_url, "kernel");
      await kernel.browsers.deleteByID(made.session_id);
      const answer = await kernel.profiles.download("kernel");
      expect(zstdDecompressSync(Buffer.from(await answer.arrayBuffer())).includes("kernel")).toBe(true);
      const { profile } = await kernel.browsers.create({ profile: { name: "kernel" } });
      expect(profile?.name).toBe("kernel");
    });
  });

  it.skipIf(skip)(
    "is saved when the server stops, and restored from its latest checkpoint when it is killed",
    async () => {
      const flags = ["--placement", placement, "--allow-private-hosts", site.host, "--profile-checkpoint-seconds", "1"];
      const first = await runService(flags);
      await first.shoal.profiles.create({ name: "kept" });
      const made = await first.shoal.browsers.create({ profile: { name: "kept", save_changes: true } });
      await signIn(made.cdp_ws_url, "stopped");
      await first.service.stop();

      const second = await runService(flags, { dataDir: first.dataDir });
      await session(second, { profile: { name: "kept" } }, async (url) => {
        expect(await whoIs(url)).toEqual(is("stopped"));
      });
      const { cdp_ws_url } = await second.shoal.browsers.create({ profile: { name: "kept", save_changes: true } });
      await signIn(cdp_ws_url, "killed");
      await eventually(
        "a checkpoint has the changes",
        async () =>
          (await second.shoal.profiles.storageState.get("kept"))?.cookies.some(({ value }) => value === "killed") ===
          true,
      );
      await second.service.stop("SIGKILL");

      const third = await runService(flags, { dataDir: first.dataDir });
      try {
        await session(third, { profile: { name: "kept", save_changes: true } }, async (url) => {
          expect((await whoIs(url)).cookies).toBe("killed killed");
        });
      } finally {
        await third.end();
      }
    },
  );
});
