import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, Shoal } from "./index.ts";
import { startToyService } from "./node/testing/toy-service.ts";

const apiKey = "sk_secret_0123456789";
const bytes = (text: string) => new TextEncoder().encode(text);
async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("Shoal", () => {
  it("says how to set the key when the key is missing", () => {
    vi.stubEnv("SHOAL_API_KEY", "");
    expect(() => new Shoal()).toThrow(
      "The API key is missing: set SHOAL_API_KEY or pass apiKey to new Shoal(). `shoal api-keys create` creates one.",
    );
  });

  it("reads key, URL and project from its options first, then from the environment", async () => {
    await using service = await startToyService(apiKey);
    vi.stubEnv("SHOAL_API_KEY", ` ${apiKey}\n`);
    vi.stubEnv("SHOAL_BASE_URL", service.baseUrl);
    vi.stubEnv("SHOAL_PROJECT", "from-env");
    const projects: unknown[] = [];
    const hooks = {
      onRequest: ({ headers }: { headers: Headers }) => void projects.push(headers.get("x-shoal-project")),
    };
    await new Shoal({ hooks }).profiles.list();
    await new Shoal({ hooks, project: "mine" }).profiles.list();
    expect(projects).toEqual(["from-env", "mine"]);
    const error: unknown = await new Shoal({ apiKey: "sk_wrong" }).profiles.list().catch((reason: unknown) => reason);
    expect(ApiError.isInstance(error) && error.code).toBe("unauthorized");
    vi.stubEnv("SHOAL_BASE_URL", "");
    expect(new Shoal().transport.baseUrl).toBe("http://127.0.0.1:7777");
  });

  it("sends no key of the environment with apiKey: null, for pages with a session cookie", async () => {
    vi.stubEnv("SHOAL_API_KEY", apiKey);
    let sent: Headers | undefined;
    const fetch = async ({ headers }: Request) => {
      sent = headers;
      return Response.json([]);
    };
    await new Shoal({ apiKey: null, fetch, headers: { "x-page": "1" } }).profiles.list();
    expect([sent?.get("x-page"), sent?.has("authorization")]).toEqual(["1", false]);
  });

  it("prints no key", () => {
    expect(JSON.stringify(new Shoal({ apiKey }))).not.toContain(apiKey);
  });
});

describe("against the real router", () => {
  it("manages profiles", async () => {
    await using service = await startToyService(apiKey);
    const { profiles } = new Shoal({ apiKey, baseUrl: service.baseUrl });
    const profile = await profiles.create({ name: "Ärger & co/..?" });
    await profiles.create();
    expect(await profiles.get(profile.id)).toEqual(profile);
    expect((await profiles.update(profile.id, { name: "new" })).name).toBe("new");
    expect((await allOf(await profiles.list({ limit: 1 }))).map((item) => item.id)).toEqual(["p0", "p1"]);
    await profiles.delete(profile.id);
    await expect(profiles.get(profile.id)).rejects.toMatchObject({ status: 404, code: "not_found" });
    await expect(profiles.update("p1", { name: "" })).rejects.toMatchObject({
      status: 400,
      code: "bad_request",
      details: [{ code: "invalid_input" }],
    });
  });

  it("manages keys", async () => {
    await using service = await startToyService(apiKey);
    const { apiKeys } = new Shoal({ apiKey, baseUrl: service.baseUrl });
    expect((await apiKeys.create({ name: "ci", days_to_expire: 30 })).key).toBe("sk_new");
    expect((await apiKeys.list({ status: "all", sort_by: "name" })).items).toHaveLength(2);
    expect((await apiKeys.get("k1", { include_deleted: true })).name).toBe("k1 true");
    expect((await apiKeys.update("k1", { name: "n" })).name).toBe("n");
    expect([(await apiKeys.rotate("k1")).name, (await apiKeys.rotate("k1", { expire_in_days: 0 })).name]).toEqual([
      "rotated as usual",
      "rotated 0",
    ]);
    await apiKeys.delete("k1");
  });

  it("ends a session at the end of the scope, and keeps its data plain", async () => {
    await using service = await startToyService(apiKey);
    const { browsers } = new Shoal({ apiKey, baseUrl: service.baseUrl });
    let id: string;
    {
      await using browser = await browsers.create({ timeout_seconds: 300, viewport: { width: 800, height: 600 } });
      id = browser.session_id;
      expect(JSON.parse(JSON.stringify(browser))).toEqual(await browsers.get(id));
      expect(Reflect.ownKeys({ ...browser })).not.toContain(Symbol.asyncDispose);
    }
    await expect(browsers.get(id)).rejects.toMatchObject({ status: 404 });
    {
      await using gone = await browsers.create();
      expect((await browsers.update(gone.session_id, { name: "n" })).name).toBe("n");
      await browsers.delete(gone.session_id);
    }
    expect(await allOf(await browsers.list({ tags: { team: "a b" } }))).toEqual([]);
    expect(service.requests.filter((request) => request.startsWith("DELETE"))).toEqual([
      "DELETE /browsers/b0",
      "DELETE /browsers/b0",
      "DELETE /browsers/b0",
    ]);
  });

  it("reads and writes files", async () => {
    await using service = await startToyService(apiKey);
    const { fs } = new Shoal({ apiKey, baseUrl: service.baseUrl }).browsers;
    await fs.createDirectory("b", { path: "/d", mode: "755" });
    await fs.writeFile("b", "hällo", { path: "/d/a b&c.txt", mode: "600" });
    expect(await fs.readText("b", { path: "/d/a b&c.txt" })).toBe("hällo");
    expect(await fs.readBytes("b", { path: "/d/a b&c.txt" })).toEqual(bytes("hällo"));
    const download = await fs.readFile("b", { path: "/d/a b&c.txt" });
    expect(download).toMatchObject({ sizeBytes: 6, contentType: "application/octet-stream", fileName: "a b&c.txt" });
    await download.stream.cancel();
    await fs.upload("b", {
      files: [
        { dest_path: "/d/1", file: new Blob(["one"]) },
        { dest_path: "/d/2", file: bytes("two") },
      ],
    });
    await fs.uploadZip("b", { dest_path: "/z", zip_file: "PK" });
    expect(Object.fromEntries([...service.files].map(([path, content]) => [path, content.toString()]))).toEqual({
      "/d/a b&c.txt": "hällo",
      "/d/1": "one",
      "/d/2": "two",
      "/z/unpacked": "PK",
    });
    await fs.move("b", { src_path: "/d/1", dest_path: "/d/3" });
    await fs.setFilePermissions("b", { path: "/d/3", mode: "0644", owner: "shoal" });
    expect((await fs.fileInfo("b", { path: "/d/3" })).size_bytes).toBe(3);
    expect(await fs.listFiles("b", { path: "/d" })).toHaveLength(4);
    await fs.deleteFile("b", { path: "/d/3" });
    await fs.deleteDirectory("b", { path: "/d" });
    await expect(fs.deleteDirectory("b", { path: "/d" })).rejects.toMatchObject({ status: 404 });
    await fs.deleteDirectory("b", { path: "/d" }, { missing_ok: true });
    expect(await new Response((await fs.downloadDirZip("b", { path: "/z" })).stream).text()).toBe("zip of /z");
    await expect(fs.readText("b", { path: "/missing" })).rejects.toMatchObject({ status: 404 });
  });

  it("follows a directory watch over lost connections until its end", async () => {
    await using service = await startToyService(apiKey);
    const { fs } = new Shoal({ apiKey, baseUrl: service.baseUrl }).browsers;
    const { watch_id } = await fs.watch.start("b", { path: "/d", recursive: true });
    const events = fs.watch.events("b", watch_id);
    const paths: string[] = [];
    const reading = (async () => {
      for await (const event of events) paths.push(`${event.type} ${event.path}`);
    })();
    await fs.writeFile("b", "1", { path: "/d/1" });
    await expect.poll(() => paths.length).toBe(1);
    service.cut();
    await fs.writeFile("b", "2", { path: "/d/2" });
    await fs.deleteFile("b", { path: "/d/1" });
    await expect.poll(() => paths.length).toBe(3);
    await fs.watch.stop("b", watch_id);
    await reading;
    expect(paths).toEqual(["CREATE /d/1", "CREATE /d/2", "DELETE /d/1"]);
  });

  it("stops a watch at the end of the scope, once, and ignores a watch that has already ended", async () => {
    await using service = await startToyService(apiKey);
    const { watch } = new Shoal({ apiKey, baseUrl: service.baseUrl }).browsers.fs;
    let ended: Promise<void>;
    {
      await using started = await watch.start("b", { path: "/d" });
      expect(JSON.stringify(started)).toBe(`{"watch_id":"${started.watch_id}"}`);
      ended = (async () => {
        for await (const event of watch.events("b", started.watch_id)) throw new Error(`unexpected ${event.type}`);
      })();
      await expect.poll(() => service.requests.some((request) => request.endsWith("/events"))).toBe(true);
    }
    await ended;
    expect(service.requests.filter((request) => request.startsWith("DELETE"))).toHaveLength(1);
  });

  it("reports the health of the service", async () => {
    await using service = await startToyService(apiKey);
    const shoal = new Shoal({ apiKey: "sk_wrong", baseUrl: service.baseUrl });
    expect(await shoal.service.health()).toEqual({ status: "ok", version: "1.0.0" });
    expect(await shoal.service.openapi()).toEqual({ openapi: "3.1.0" });
    await expect(shoal.service.ready()).rejects.toMatchObject({ status: 503, code: "shutting_down" });
    expect(service.requests).toHaveLength(3);
  });
});
