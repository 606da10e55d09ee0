import Kernel, { APIError, toFile } from "@onkernel/sdk";
import { eventually } from "@shoal/testkit";
import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { zipOf } from "../testing/zip.ts";

async function refusal(call: Promise<unknown>): Promise<{ status: number | undefined; code: unknown }> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof APIError)) throw new Error(`It was not refused: ${String(error)}`);
  return { status: error.status as number | undefined, code: (error.error as { code?: unknown } | undefined)?.code };
}

// The public SDK of the hosted service with another base URL.
describe.each(placements)("the hosted service's SDK, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("against a service", () => {
    const test = useService(() => ["--placement", placement]);
    let kernel: Kernel;
    beforeAll(() => {
      kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
    });

    it("manages profiles", async () => {
      const profile = await kernel.profiles.create({ name: "sdk" });
      expect(profile).toMatchObject({ name: "sdk" });
      expect((await kernel.profiles.retrieve("sdk")).id).toBe(profile.id);
      expect((await kernel.profiles.retrieve(profile.id)).name).toBe("sdk");
      expect((await kernel.profiles.update("sdk", { name: "sdk-2" })).name).toBe("sdk-2");
      for (let index = 0; index < 25; index++) await kernel.profiles.create({ name: `paged-${String(index)}` });
      const names = new Set<string>();
      for await (const item of kernel.profiles.list({ limit: 10 })) names.add(item.name ?? "");
      expect(names.size).toBe(26);
      await kernel.profiles.delete("sdk-2");
      expect(await refusal(kernel.profiles.retrieve(profile.id))).toEqual({ status: 404, code: "not_found" });
      expect(await refusal(kernel.profiles.create({ name: "paged-1" }))).toEqual({ status: 409, code: "name_taken" });
    });

    it("manages API keys", async () => {
      const key = await kernel.apiKeys.create({ name: "first", days_to_expire: 30 });
      expect(key.key.length).toBeGreaterThan(30);
      expect((await kernel.apiKeys.retrieve(key.id)).masked_key).toBe(key.masked_key);
      expect((await kernel.apiKeys.update(key.id, { name: "second" })).name).toBe("second");
      const own = new Kernel({ apiKey: key.key, baseURL: test.service.baseUrl });
      expect((await own.apiKeys.list({ name: "second" })).getPaginatedItems()).toHaveLength(1);
      const rotated = await kernel.apiKeys.rotate(key.id, { expire_in_days: 0 });
      expect(rotated.name).toBe("second");
      expect((await refusal(own.profiles.list())).status).toBe(401);
      await kernel.apiKeys.delete(rotated.id);
      expect((await refusal(kernel.apiKeys.retrieve(rotated.id))).status).toBe(404);
      expect((await kernel.apiKeys.retrieve(rotated.id, { include_deleted: true })).deleted_at).not.toBeNull();
      expect((await refusal(kernel.apiKeys.update(key.id, { name: "" }))).status).toBe(400);
    });

    it("manages projects and limits", async () => {
      const project = await kernel.projects.create({ name: "sdk project" });
      expect((await kernel.projects.retrieve("sdk project")).id).toBe(project.id);
      expect((await kernel.projects.list({ query: "SDK" })).getPaginatedItems()).toHaveLength(1);
      expect(
        await kernel.projects.limits.update(project.id, {
          max_concurrent_sessions: 2,
          max_concurrent_invocations: null,
        }),
      ).toMatchObject({
        max_concurrent_sessions: 2,
      });
      expect(await kernel.projects.limits.retrieve(project.id)).toMatchObject({ max_concurrent_sessions: 2 });
      expect(await kernel.organization.limits.update({ default_project_max_concurrent_sessions: 40 })).toMatchObject({
        default_project_max_concurrent_sessions: 40,
      });
      expect((await kernel.organization.limits.retrieve()).max_concurrent_sessions).toBeGreaterThan(0);
      const inside = new Kernel({
        apiKey: test.service.apiKey,
        baseURL: test.service.baseUrl,
        defaultHeaders: { "X-Kernel-Project-Id": project.id },
      });
      const profile = await inside.profiles.create({ name: "inside" });
      expect(await refusal(kernel.profiles.retrieve("inside"))).toEqual({ status: 404, code: "not_found" });
      expect(await refusal(kernel.projects.delete(project.id))).toEqual({ status: 409, code: "project_not_empty" });
      await inside.profiles.delete(profile.id);
      expect((await kernel.projects.update(project.id, { status: "archived" })).status).toBe("archived");
      expect(await refusal(inside.profiles.list())).toEqual({ status: 404, code: "project_not_found" });
      await kernel.projects.delete(project.id);
      expect(await refusal(kernel.projects.retrieve(project.id))).toEqual({ status: 404, code: "not_found" });
    });

    it("reads and downloads the audit log", async () => {
      for (const name of ["audited-1", "audited-2"]) await kernel.profiles.create({ name });
      const window = {
        start: new Date(Date.now() - 3_600_000).toISOString(),
        end: new Date(Date.now() + 60_000).toISOString(),
      };
      const seen: string[] = [];
      for await (const entry of kernel.auditLogs.list({
        ...window,
        search: "/profiles",
        exclude_method: ["DELETE"],
        limit: 1,
      }))
        seen.push(`${entry.method} ${entry.path} ${String(entry.status)}`);
      expect(seen.length).toBeGreaterThanOrEqual(2);
      expect(seen[0]).toBe("POST /profiles 201");
      const chunks: Uint8Array[] = [];
      await kernel.auditLogs.download({ ...window, limit: 1 }, { write: (chunk) => void chunks.push(chunk) });
      const lines = gunzipSync(Buffer.concat(chunks)).toString().trimEnd().split("\n");
      expect(lines.length).toBeGreaterThanOrEqual(seen.length);
      // The oldest entry is the admin key, which the service created itself.
      expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ path: "/org/api_keys", auth_strategy: "service" });
      for (const line of lines.slice(0, -1))
        expect(JSON.parse(line)).toMatchObject({ auth_strategy: "api_key", client_ip: "127.0.0.1" });
    });

    it("manages proxies, and uses one in a session", async () => {
      const proxy = await kernel.proxies.create({
        type: "custom",
        name: "sdk",
        protocol: "http",
        bypass_hosts: ["*.example.com"],
        config: { host: "proxy.invalid", port: 8080, username: "user", password: "secret" },
      });
      const id = proxy.id ?? "";
      expect(proxy).toMatchObject({
        type: "custom",
        protocol: "http",
        config: { host: "proxy.invalid", port: 8080, username: "user", has_password: true },
      });
      expect(await kernel.proxies.retrieve(id)).toEqual(proxy);
      expect((await kernel.proxies.update(id, { name: "sdk-2" })).name).toBe("sdk-2");
      expect((await kernel.proxies.list({ query: "PROXY.invalid" })).getPaginatedItems()).toHaveLength(1);
      expect(await refusal(kernel.proxies.check(id))).toEqual({ status: 422, code: "proxy_check_failed" });
      expect((await kernel.proxies.retrieve(id)).status).toBe("unavailable");
      expect(await refusal(kernel.proxies.create({ type: "mobile" }))).toEqual({
        status: 400,
        code: "proxy_not_available",
      });
      const browser = await kernel.browsers.create({ proxy_id: id });
      expect(browser.proxy_id).toBe(id);
      expect((await kernel.browsers.update(browser.session_id, { proxy_id: "" })).proxy_id).toBeUndefined();
      await kernel.browsers.deleteByID(browser.session_id);
      await kernel.proxies.delete(id);
      expect((await refusal(kernel.proxies.retrieve(id))).status).toBe(404);
    });

    it("keeps browsers warm in a pool, and leases them", async () => {
      const pool = await kernel.browserPools.create({
        name: "sdk",
        size: 1,
        fill_rate_per_minute: 100,
        timeout_seconds: 3600,
      });
      expect(pool).toMatchObject({
        name: "sdk",
        acquired_count: 0,
        browser_pool_config: { size: 1, fill_rate_per_minute: 100, timeout_seconds: 3600 },
      });
      expect(await kernel.browserPools.retrieve("sdk")).toMatchObject({ id: pool.id });
      expect((await kernel.browserPools.list({ query: "SD" })).getPaginatedItems().map(({ id }) => id)).toEqual([
        pool.id,
      ]);
      const acquired = (more: { readonly name?: string } = {}) =>
        eventually("a free browser", () =>
          kernel.browserPools.acquire("sdk", { acquire_timeout_seconds: 30, ...more }),
        );
      const lease = await acquired({ name: "leased" });
      expect(lease).toMatchObject({ name: "leased", timeout_seconds: 3600, pool: { id: pool.id, name: "sdk" } });
      const browser = await chromium.connectOverCDP(lease.cdp_ws_url);
      expect(browser.isConnected()).toBe(true);
      await browser.close();
      expect(await kernel.browserPools.acquire("sdk", { acquire_timeout_seconds: 0 })).toBeNull();
      expect(await refusal(kernel.browserPools.delete("sdk"))).toEqual({ status: 409, code: "pool_in_use" });
      await kernel.browserPools.release("sdk", { session_id: lease.session_id });
      const next = await acquired();
      expect(next.session_id).not.toBe(lease.session_id);
      await kernel.browserPools.release("sdk", { session_id: next.session_id, reuse: false });
      await kernel.browserPools.flush("sdk");
      expect(
        (await kernel.browserPools.update("sdk", { size: 2, discard_all_idle: true })).browser_pool_config.size,
      ).toBe(2);
      await kernel.browserPools.delete("sdk", { force: true });
      expect((await refusal(kernel.browserPools.retrieve(pool.id))).status).toBe(404);
    });

    it("answers fields and queries of newer versions", async () => {
      // This version's types lack these fields and queries.
      const newer = { region: "default" };
      const browser = await kernel.browsers.create({ headless: true, ...newer });
      expect(browser).toMatchObject({ region: "default", memory: expect.stringMatching(/^\d+[GM]iB$/) as unknown });
      expect(
        (await kernel.browsers.list({ limit: 20, ...newer })).getPaginatedItems().map(({ session_id }) => session_id),
      ).toEqual([browser.session_id]);
      expect((await kernel.browsers.list({ limit: 20, ...{ region: "eu-west" } })).getPaginatedItems()).toEqual([]);
      await kernel.browsers.deleteByID(browser.session_id);
      expect(await refusal(kernel.browsers.create({ headless: true, ...{ region: "eu-west" } }))).toEqual({
        status: 400,
        code: "bad_request",
      });
      expect(await refusal(kernel.browsers.create({ headless: true, ...{ memory: "8GiB" } }))).toEqual({
        status: 400,
        code: "bad_request",
      });
      const pool = await kernel.browserPools.create({ size: 1, ...newer });
      expect(pool).toMatchObject({ region: "default" });
      expect((await kernel.browserPools.list({ limit: 20, ...newer })).getPaginatedItems().map(({ id }) => id)).toEqual(
        [pool.id],
      );
      expect((await kernel.browserPools.list({ limit: 20, ...{ region: "eu-west" } })).getPaginatedItems()).toEqual([]);
      await kernel.browserPools.delete(pool.id, { force: true });
    });

    it("manages extensions", async () => {
      const archive = await zipOf([
        { name: "manifest.json", content: JSON.stringify({ manifest_version: 3, name: "SDK", version: "1.0" }) },
      ]);
      const extension = await kernel.extensions.upload({ file: await toFile(archive, "extension.zip"), name: "sdk" });
      expect(extension).toMatchObject({ name: "sdk", size_bytes: archive.length });
      expect((await kernel.extensions.get("sdk")).id).toBe(extension.id);
      expect((await kernel.extensions.list()).getPaginatedItems()).toHaveLength(1);
      expect(Buffer.from(await (await kernel.extensions.download("sdk")).arrayBuffer()).equals(archive)).toBe(true);
      expect(
        await refusal(kernel.extensions.upload({ file: await toFile(archive, "extension.zip"), name: "sdk" })),
      ).toEqual({
        status: 409,
        code: "name_taken",
      });
      await kernel.extensions.delete("sdk");
      expect((await refusal(kernel.extensions.get("sdk"))).status).toBe(404);
    });

    it("runs a browser", async () => {
      const browser = await kernel.browsers.create({
        name: "sdk",
        headless: true,
        tags: { team: "sdk" },
        timeout_seconds: 3600,
      });
      expect(browser.session_id).toMatch(/^[a-z][a-z0-9]{23}$/);
      const client = await chromium.connectOverCDP(browser.cdp_ws_url);
      expect(client.version()).toMatch(/^\d+\./);
      await client.close();
      expect((await kernel.browsers.retrieve("sdk")).session_id).toBe(browser.session_id);
      const listed = [];
      for await (const item of kernel.browsers.list({ tags: { team: "sdk" } })) listed.push(item.session_id);
      expect(listed).toEqual([browser.session_id]);
      expect((await kernel.browsers.update(browser.session_id, { name: "renamed", tags: {} })).name).toBe("renamed");
      await kernel.browsers.deleteByID(browser.session_id);
      expect((await refusal(kernel.browsers.retrieve(browser.session_id))).status).toBe(404);
      expect((await kernel.browsers.retrieve(browser.session_id, { include_deleted: true })).deleted_at).toBeDefined();
    });

    it("works on files and watches a directory", async () => {
      const { session_id: id } = await kernel.browsers.create({});
      const { fs } = kernel.browsers;
      const home = "/home/shoal/sdk";
      await fs.createDirectory(id, { path: home });
      const { watch_id } = await fs.watch.start(id, { path: home, recursive: true });
      const seen = (async () => {
        const paths = new Set<string>();
        for await (const event of await fs.watch.events(watch_id ?? "", { id })) {
          if (event.type === "CREATE") paths.add(event.path);
          if (paths.has(`${home}/zip/deep/c.txt`)) break;
        }
        return paths;
      })();

      await fs.writeFile(id, "written", { path: `${home}/a.txt`, mode: "600" });
      expect(await (await fs.readFile(id, { path: `${home}/a.txt` })).text()).toBe("written");
      expect(await fs.fileInfo(id, { path: `${home}/a.txt` })).toMatchObject({
        name: "a.txt",
        size_bytes: 7,
        is_dir: false,
        mode: "-rw-------",
      });
      await fs.upload(id, {
        files: [{ dest_path: `${home}/b.txt`, file: await toFile(Buffer.from("uploaded"), "b.txt") }],
      });
      expect(await (await fs.readFile(id, { path: `${home}/b.txt` })).text()).toBe("uploaded");
      await fs.uploadZip(id, {
        dest_path: `${home}/zip`,
        zip_file: await toFile(await zipOf([{ name: "deep/c.txt", content: "zipped" }]), "c.zip"),
      });
      expect([...(await seen)]).toEqual(
        expect.arrayContaining([`${home}/a.txt`, `${home}/b.txt`, `${home}/zip/deep/c.txt`]),
      );

      await fs.setFilePermissions(id, { path: `${home}/a.txt`, mode: "644" });
      await fs.move(id, { src_path: `${home}/a.txt`, dest_path: `${home}/moved.txt` });
      expect((await fs.listFiles(id, { path: home })).map(({ name }) => name)).toEqual(["b.txt", "moved.txt", "zip"]);
      const archive = Buffer.from(await (await fs.downloadDirZip(id, { path: home })).arrayBuffer());
      expect(archive.subarray(0, 2).toString()).toBe("PK");
      expect(archive.includes("zip/deep/c.txt")).toBe(true);
      await fs.watch.stop(watch_id ?? "", { id });
      await fs.deleteFile(id, { path: `${home}/b.txt` });
      await fs.deleteDirectory(id, { path: home });
      expect((await refusal(fs.listFiles(id, { path: home }))).status).toBe(404);
      expect((await refusal(fs.deleteDirectory(id, { path: "/" }))).status).toBe(403);
      await kernel.browsers.deleteByID(id);
    });

    it("creates browsers with fields of other versions", async () => {
      const headers: (string | null)[] = [];
      const kernel = new Kernel({
        apiKey: test.service.apiKey,
        baseURL: test.service.baseUrl,
        fetch: async (input, init) => {
          const answer = await fetch(input, init);
          headers.push(answer.headers.get("x-shoal-ignored-fields"));
          return answer;
        },
      });
      // The README of @onkernel/ai-sdk passes `browser`; older SDKs sent `persistence`.
      const body = { browser: "chromium", persistence: { id: "my-session" }, headless: true };
      const { session_id: id } = await kernel.browsers.create(body);
      const result = await kernel.browsers.process.exec(id, { command: "true", ...{ colour: "red" } });
      expect([result.exit_code, headers]).toEqual([0, ["body.browser, body.persistence", "body.colour"]]);
      await kernel.browsers.deleteByID(id);
    });

    it("makes one session of a create whose answer is lost, if the call has an idempotency key", async () => {
      let lost = 0;
      const kernel = new Kernel({
        apiKey: test.service.apiKey,
        baseURL: test.service.baseUrl,
        fetch: async (input, init) => {
          const answer = await fetch(input, init);
          if (init?.method?.toUpperCase() !== "POST" || lost > 0) return answer;
          lost++;
          await answer.arrayBuffer();
          throw new TypeError("The connection was cut behind the service.");
        },
      });
      const tags = { test: "lost-answer" };
      const made = await kernel.browsers.create({ tags }, { headers: { "Idempotency-Key": randomUUID() } });
      const sessions = (await test.shoal.browsers.list({ tags })).items.map((session) => session.session_id);
      expect([lost, sessions]).toEqual([1, [made.session_id]]);
      await kernel.browsers.deleteByID(made.session_id);
    });
  });
});
