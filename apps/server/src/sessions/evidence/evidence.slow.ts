import { EvidenceKey, EvidenceManifest, EvidenceSignature, type Browser } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { createHash, createPublicKey, verify } from "node:crypto";
import { mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromBufferPromise } from "yauzl";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ download_retention_hours: 1 });
});
afterAll(() => server.close());

const page = `data:text/html,<title>orders</title><a id=a download=notes.txt href='data:text/plain,noted'>notes</a><script>
console.log('three orders'); a.click()</script>`;

async function create(telemetry: object, startUrl = page): Promise<string> {
  const { body, status } = await server.request("POST", "/browsers", {
    body: { telemetry, start_url: startUrl, timeout_seconds: 3600 },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as Browser).session_id;
}

/** The files of a bundle, in the order of the archive. */
async function bundleOf(id: string, query = "", key = server.key): Promise<Map<string, Buffer>> {
  const answer = await fetch(`${server.baseUrl}/browsers/${id}/evidence${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/zip");
  return unzipped(Buffer.from(await answer.arrayBuffer()));
}

async function unzipped(archive: Buffer): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(archive);
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry())
    files.set(entry.fileName, Buffer.concat(await (await zip.openReadStreamPromise(entry)).toArray()));
  return files;
}

const json = (files: ReadonlyMap<string, Buffer>, name: string): unknown =>
  JSON.parse(files.get(name)?.toString("utf8") ?? "null");
const manifestOf = (files: ReadonlyMap<string, Buffer>) => EvidenceManifest.parse(json(files, "manifest.json"));
const linesOf = (files: ReadonlyMap<string, Buffer>) =>
  (files.get("telemetry.ndjson")?.toString("utf8") ?? "").split("\n").slice(0, -1);

it("bundles the stored data, while the session runs and after its end, and signs it", async () => {
  const id = await create({ browser: { console: {}, page: {}, network: { bodies: false } } });
  const during = await eventuallyPasses(async () => {
    const files = await bundleOf(id);
    expect([...files.keys()].find((name) => name.endsWith("-notes.txt"))).toBeDefined();
    expect(linesOf(files).join("\n")).toContain("three orders");
    return files;
  });
  expect(manifestOf(during).session).toMatchObject({ session_id: id, ended_at: null });
  expect(manifestOf(during).left_out).toContainEqual({
    what: "last picture",
    reason: "It is taken at the end of the session.",
  });
  expect((await server.request("DELETE", `/browsers/${id}`)).status).toBe(204);
  const after = await bundleOf(id);
  const manifest = manifestOf(after);
  expect([...after.keys()].slice(-2)).toEqual(["manifest.json", "manifest.sig.json"]);
  expect(manifest.files.map(({ path }) => path)).toEqual([...after.keys()].slice(0, -2));
  for (const { path, sha256, size_bytes: size } of manifest.files) {
    const content = after.get(path);
    expect([
      content?.length,
      createHash("sha256")
        .update(content ?? "")
        .digest("hex"),
    ]).toEqual([size, sha256]);
  }
  expect([...after].find(([name]) => name.endsWith("-notes.txt"))?.[1].toString()).toBe("noted");
  expect(after.get("pictures/last.jpg")?.subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
  expect(manifest.session).toMatchObject({
    ended_reason: "deleted",
    telemetry: expect.arrayContaining(["console"]) as unknown,
  });
  const { public_key: x, key_id: keyId } = EvidenceKey.parse((await server.request("GET", "/evidence_key")).body);
  const signature = EvidenceSignature.parse(json(after, "manifest.sig.json"));
  expect([signature.public_key, signature.key_id]).toEqual([x, keyId]);
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const signed = (content: Buffer) => Buffer.concat([Buffer.from("shoal evidence manifest\n"), content]);
  const content = after.get("manifest.json") ?? Buffer.alloc(0);
  const isValid = (bytes: Buffer) => verify(null, signed(bytes), key, Buffer.from(signature.signature, "base64url"));
  expect([isValid(content), isValid(Buffer.concat([content, Buffer.from(" ")]))]).toEqual([true, false]);
});

it("says why parts are missing, and contains only the parts of the request", async () => {
  const id = await create({ enabled: false }, "about:blank");
  const nothing = manifestOf(await bundleOf(id, "?include=telemetry,har,trace,outlines,pictures,recordings"));
  expect(nothing.files).toEqual([]);
  expect(nothing.left_out.map(({ what }) => what)).toEqual([
    "telemetry",
    "har",
    "trace",
    "outlines",
    "screenshots",
    "last picture",
    "recordings",
    "downloads",
  ]);
  expect(nothing.left_out.at(-1)?.reason).toBe("The request did not include it.");
  expect(await server.request("GET", `/browsers/${id}/evidence?include=secrets`)).toMatchObject({ status: 400 });
  const folder = join(server.dataDir, "replays", id);
  mkdirSync(join(folder, `${"0".repeat(24)}.json`), { recursive: true });
  const unreadable = manifestOf(await bundleOf(id, "?include=recordings,downloads"));
  rmSync(folder, { recursive: true });
  expect(unreadable.left_out.slice(-2)).toEqual([
    {
      what: "recordings",
      reason: "It is incomplete: the service could not read all of it. Download the bundle again.",
    },
    { what: "downloads", reason: expect.stringContaining("The session has none") as unknown },
  ]);
  await server.request("DELETE", `/browsers/${id}`);
});

const orders = `data:text/html,<title>orders</title><label>Name <input></label><label>Password <input type=password></label>
<button onclick="document.body.append('Added ' %2b document.querySelector('input').value)">Add</button>`;

it("has outlines of the page before and after each action if the session captures them, and leaves references and changes to the caller", async () => {
  const id = await create({ browser: { page: { outlines: true } } }, orders);
  const call = async (path: string, body: object) =>
    (await server.request("POST", `/browsers/${id}${path}`, { body })).body;
  const observed = await call("/observe", {});
  await call("/act", { type: "fill", role: "textbox", name: "Name", text: "Ada" });
  await call("/act", { type: "fill", role: "textbox", name: "Password", text: "hunter2hunter2" });
  await call("/act", { type: "click", role: "button", name: "Add" });
  await call("/act", { type: "click", role: "button", name: "None", timeout_ms: 100 });
  const changes = await call("/observe", { diff: true });
  expect(changes).toMatchObject({ diff: true, outline: expect.stringContaining("Added Ada") as unknown });
  const { outline } = observed as { outline: string };
  const files = await eventuallyPasses(async () => {
    const found = await bundleOf(id, "?include=outlines,trace,telemetry");
    expect([...found.keys()].filter((name) => name.startsWith("outlines/"))).toHaveLength(8);
    return found;
  });
  const texts = [...files].filter(([name]) => name.startsWith("outlines/"));
  const byAct = (name: string) =>
    texts.filter(([path]) => path.endsWith(`${name}.txt`)).map(([, text]) => String(text));
  expect(texts.map(([name]) => name.replace(/^.*-(\w+-\w+)\.txt$/, "$1"))).toEqual([
    ...["before-fill", "after-fill", "before-fill", "after-fill"],
    ...["before-click", "after-click", "before-click", "after-click"],
  ]);
  expect(byAct("before-fill")[0]).toBe(outline);
  expect(byAct("after-fill")[0]).toContain("Ada");
  expect(byAct("before-click")[0]).not.toContain("Added");
  expect(byAct("after-click")).toEqual([expect.stringContaining("Added Ada"), expect.stringContaining("Added Ada")]);
  const trace = await unzipped(files.get("trace.zip") ?? Buffer.alloc(0));
  const lines = trace.get("trace.trace")?.toString() ?? "";
  for (const name of ["beforeSnapshot", "afterSnapshot"]) expect(lines.split(name)).toHaveLength(5);
  expect(lines.split("Added Ada")).toHaveLength(4);
  for (const content of [...files.values(), ...trace.values()]) expect(content.includes("hunter2hunter2")).toBe(false);
  await server.request("DELETE", `/browsers/${id}`);
  const without = await create({ browser: { page: {} } }, orders);
  expect(manifestOf(await bundleOf(without)).left_out).toContainEqual({
    what: "outlines",
    reason: expect.stringContaining("page.outlines") as unknown,
  });
  await server.request("DELETE", `/browsers/${without}`);
});

it("contains what happened after the clock of the box was set back", async () => {
  const id = await create({ enabled: false }, "about:blank");
  const folder = join(server.dataDir, "telemetry", id);
  mkdirSync(folder, { recursive: true });
  // Recorders keep the time of the event before.
  const ts = (Date.now() + 3_600_000) * 1000;
  const event = { ts, type: "console_log", category: "console", source: { kind: "cdp" }, data: {} };
  const line = (seq: number) => `${JSON.stringify({ seq, event })}\n`;
  writeFileSync(join(folder, `${"0".repeat(16)}-${String(ts)}.ndjson`), line(1) + line(2));
  const events = linesOf(await bundleOf(id, "?include=telemetry")).map((one) => JSON.parse(one) as { seq: number });
  expect(events.map(({ seq }) => seq)).toEqual([1, 2]);
  await server.request("DELETE", `/browsers/${id}`);
});

it("answers 404 to other projects, whose manifests have another key", async () => {
  const id = await create({ enabled: false }, "about:blank");
  const other = await server.addProject("evidence-stranger");
  expect((await server.request("GET", `/browsers/${id}/evidence`, { key: other.key })).status).toBe(404);
  await server.request("DELETE", `/browsers/${id}`);
  expect((await server.request("GET", `/browsers/${id}/evidence`, { key: other.key })).status).toBe(404);
  const keys = await Promise.all(
    [server.key, server.key, other.key].map(
      async (key) => (await server.request("GET", "/evidence_key", { key })).body,
    ),
  );
  expect(keys[0]).toEqual(keys[1]);
  expect(keys[2]).not.toEqual(keys[0]);
});

it("answers 503 for more bundles of a project than may be in progress, until one ends", async () => {
  const { key } = await server.addProject("evidence-unread");
  const { body } = await server.request("POST", "/browsers", { body: { start_url: "about:blank" }, key });
  const id = (body as Browser).session_id;
  const folder = join(server.dataDir, "replays", id);
  mkdirSync(folder, { recursive: true });
  const film = join(folder, `${"0".repeat(24)}.mp4`);
  // A fragment, and more pictures than the buffers of sockets hold.
  const boxes = Buffer.concat([Buffer.from([0, 0, 0, 8]), Buffer.from("moof"), Buffer.alloc(4), Buffer.from("mdat")]);
  boxes.writeUInt32BE(64 * 2 ** 20, 8);
  writeFileSync(film, boxes);
  truncateSync(film, 8 + 64 * 2 ** 20);
  const moment = "2026-01-01T00:00:00.000Z";
  writeFileSync(
    film.replace(/mp4$/, "json"),
    JSON.stringify({ replay_id: "0".repeat(24), started_at: moment, finished_at: null, replay_view_url: "" }),
  );
  const address = `${server.baseUrl}/browsers/${id}/evidence?include=recordings`;
  const headers = { authorization: `Bearer ${key}` };
  const unread = await Promise.all(Array.from({ length: 4 }, () => fetch(address, { headers })));
  expect(unread.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const refused = await fetch(address, { headers });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await refused.json()).toMatchObject({ code: "overloaded", limit: 4 });
  // Other projects are not concerned.
  const other = await create({ enabled: false }, "about:blank");
  expect((await bundleOf(other, "?include=recordings")).has("manifest.json")).toBe(true);
  await unread[0]?.body?.cancel();
  await eventuallyPasses(async () => {
    const answer = await fetch(address, { headers });
    await answer.body?.cancel();
    expect(answer.status).toBe(200);
  });
  for (const { body: rest } of unread.slice(1)) await rest?.cancel();
  await server.request("DELETE", `/browsers/${id}`, { key });
  await server.request("DELETE", `/browsers/${other}`);
});
