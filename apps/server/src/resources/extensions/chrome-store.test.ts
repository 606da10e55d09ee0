import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { manifest, zipOf } from "../../testing/zip.ts";
import { completeConfig } from "../../config/config.ts";
import { operatorRule } from "../../host/operator-rule.ts";
import { maxArchiveBytes } from "./archive-rules.ts";
import { createChromeStore } from "./chrome-store.ts";
import { idOfHash } from "./crx.ts";

interface Signer {
  readonly publicKey: Buffer;
  readonly privateKey: KeyObject;
  readonly field: number;
}

function signer(type: "rsa" | "ec"): Signer {
  const { publicKey, privateKey } =
    type === "rsa"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { publicKey: publicKey.export({ format: "der", type: "spki" }), privateKey, field: type === "rsa" ? 2 : 3 };
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function field(number: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(value.length)]), value]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const hashOf = (key: Buffer) => createHash("sha256").update(key).digest();

/** Builds a package like the store's, signed by each of the signers. */
function crxOf(archive: Buffer, signers: readonly Signer[], idOf: Buffer): Buffer {
  const signed = field(1, hashOf(idOf).subarray(0, 16));
  const content = Buffer.concat([Buffer.from("CRX3 SignedData\0"), uint32(signed.length), signed, archive]);
  const proofs = signers.map(({ privateKey, publicKey, field: number }) =>
    field(number, Buffer.concat([field(1, publicKey), field(2, sign("sha256", content, privateKey))])),
  );
  const header = Buffer.concat([...proofs, field(4, Buffer.from("verified contents")), field(10_000, signed)]);
  return Buffer.concat([Buffer.from("Cr24"), uint32(3), uint32(header.length), header, archive]);
}

const developer = signer("rsa");
const publisher = signer("ec");
const id = idOfHash(hashOf(developer.publicKey));
const page = `https://chromewebstore.google.com/detail/some-name/${id}`;
/** For temporary files of the service alone. */
let folder: string;
let archive: Buffer;
let store: Server;
let server: TestServer;
let asked: URLSearchParams | undefined;
let location = "/content";
let answer: { readonly status: number; readonly body: Buffer } = { status: 500, body: Buffer.alloc(0) };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-chrome-store-"));
  archive = await zipOf({ "manifest.json": manifest });
  store = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://store");
    if (url.pathname === "/crx") {
      asked = url.searchParams;
      response.writeHead(302, { location }).end();
    } else response.writeHead(answer.status).end(answer.body);
  });
  await once(store.listen(0, "127.0.0.1"), "listening");
  server = await startTestServer({
    chrome_store_url: `http://127.0.0.1:${String((store.address() as AddressInfo).port)}/crx`,
  });
  vi.stubEnv("TMPDIR", folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
  store.closeAllConnections();
  store.close();
});

async function download(url: string, more = ""): Promise<{ status: number; bytes: Buffer; text: string }> {
  const response = await fetch(`${server.baseUrl}/extensions/from_chrome_store?url=${encodeURIComponent(url)}${more}`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, bytes, text: bytes.toString() };
}

const leftovers = () => readdirSync(folder);

it("returns the archive of a package, and deletes its temporary file", async () => {
  answer = { status: 200, body: crxOf(archive, [developer, publisher], developer.publicKey) };
  for (const address of [
    page,
    `${page}?hl=de`,
    `https://chromewebstore.google.com/detail/${id}`,
    `https://chrome.google.com/webstore/detail/name/${id}/reviews`,
  ]) {
    const { status, bytes } = await download(address);
    expect(status).toBe(200);
    expect(bytes.equals(archive)).toBe(true);
  }
  expect(asked?.get("x")).toContain(`id=${id}`);
  expect(asked?.get("os")).toBe("linux");
  await download(page, "&os=mac");
  expect(asked?.get("os")).toBe("mac");
  await expect.poll(leftovers).toEqual([]);
});

it("returns an archive that can be uploaded unchanged", async () => {
  answer = { status: 200, body: crxOf(archive, [developer], developer.publicKey) };
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array((await download(page)).bytes)]), "extension.zip");
  expect(
    (
      await fetch(`${server.baseUrl}/extensions`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.key}` },
        body: form,
      })
    ).status,
  ).toBe(201);
});

it.each([
  "https://example.com/detail/name/" + id,
  "nonsense",
  `https://chromewebstore.google.com/detail/${"z".repeat(32)}`,
  `https://chromewebstore.google.com/detail/${id}x`,
  "https://chromewebstore.google.com/",
  `file:///${id}`,
])("answers 400 for %s", async (url) => {
  const { status, text } = await download(url);
  expect([status, text]).toEqual([400, expect.stringContaining("query.url")]);
});

it.each([204, 404])("answers 404 when the store answers %i", async (status) => {
  answer = { status, body: Buffer.alloc(0) };
  expect(await download(page)).toMatchObject({ status: 404, text: expect.stringContaining(id) as unknown });
});

describe("answers 502 for", () => {
  const good = () => crxOf(archive, [developer], developer.publicKey);
  const changed = (at: number) => {
    const bytes = good();
    bytes.writeUInt8(bytes.readUInt8(bytes.length - at) ^ 1, bytes.length - at);
    return bytes;
  };

  it.each<[string, () => Buffer, string]>([
    ["a changed archive", () => changed(5), "signature is invalid"],
    ["a package of another extension", () => crxOf(archive, [publisher], publisher.publicKey), "another extension"],
    [
      "a package that another signed in its name",
      () => crxOf(archive, [publisher], developer.publicKey),
      "key of the extension",
    ],
    [
      "a package with one false signature among good ones",
      () => crxOf(archive, [developer, { ...publisher, privateKey: signer("ec").privateKey }], developer.publicKey),
      "signature is invalid",
    ],
    ["a package without signatures", () => crxOf(archive, [], developer.publicKey), "key of the extension"],
    ["a bare archive", () => archive, "not a CRX file"],
    ["nothing", () => Buffer.alloc(0), "not a CRX file"],
    ["version 2", () => Buffer.concat([Buffer.from("Cr24"), uint32(2), good().subarray(8)]), "version 2"],
    ["a header that is cut off", () => good().subarray(0, 100), "cut off"],
    ["a header that is too long", () => Buffer.concat([Buffer.from("Cr24"), uint32(3), uint32(2 ** 31)]), "too long"],
    [
      "a header of nonsense",
      () => Buffer.concat([Buffer.from("Cr24"), uint32(3), uint32(4), Buffer.from([255, 255, 255, 255])]),
      "damaged",
    ],
  ])("%s", async (_what, body, message) => {
    answer = { status: 200, body: body() };
    expect(await download(page)).toMatchObject({ status: 502, text: expect.stringContaining(message) as unknown });
    await expect.poll(leftovers).toEqual([]);
  });

  it("a store that fails", async () => {
    answer = { status: 503, body: Buffer.alloc(0) };
    expect(await download(page)).toMatchObject({ status: 502, text: expect.stringContaining("503") as unknown });
  });
});

it("rejects an extension above the upload limit", async () => {
  answer = { status: 200, body: crxOf(Buffer.alloc(maxArchiveBytes + 2 ** 20), [developer], developer.publicKey) };
  expect(await download(page)).toMatchObject({ status: 400, text: expect.stringContaining("50 MiB") as unknown });
});

it.each([
  ["an internal address", "https://10.0.0.1/content", "private network"],
  ["another port of this machine", "http://127.0.0.1:1/content", "loopback"],
  ["a file", "file:///etc/passwd", "not https"],
  ["itself", "/crx", "more than 5 redirects"],
])("does not follow a redirect of the store to %s", async (_what, to, because) => {
  answer = { status: 200, body: crxOf(archive, [developer, publisher], developer.publicKey) };
  location = to;
  try {
    const { port } = store.address() as AddressInfo;
    const rule = operatorRule({ config: completeConfig({}), otherServers: () => [] }, [
      `http://127.0.0.1:${String(port)}`,
    ]);
    const followed = createChromeStore(`http://127.0.0.1:${String(port)}/crx`, rule);
    const { signal } = new AbortController();
    await expect(followed.download({ url: page, os: "linux" }, signal)).rejects.toMatchObject({
      status: 502,
      cause: { message: expect.stringContaining(because) as unknown },
    });
  } finally {
    location = "/content";
  }
});
