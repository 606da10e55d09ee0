import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { checkBundle, keyIdOf } from "./check-bundle.ts";

let folder: string;
let archive: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-evidence-"));
  archive = join(folder, "evidence.zip");
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const { x = "" } = publicKey.export({ format: "jwk" });
const files = { "telemetry.ndjson": "one\ntwo\n", "downloads/a.txt": "a".repeat(100_000) };

interface Changes {
  /** In the archive, not in the manifest. */
  readonly content?: Readonly<Record<string, string>>;
  readonly manifest?: object;
  readonly signature?: object;
  readonly comment?: string;
  readonly twice?: string;
}

async function pack({ comment, content = {}, manifest = {}, signature = {}, twice }: Changes = {}): Promise<void> {
  const zip = new ZipFile();
  const add = (name: string, text: string | Buffer) => {
    zip.addReadStream(Readable.from([Buffer.from(text)]), name);
  };
  for (const [name, text] of Object.entries({ ...files, ...content })) add(name, text);
  if (twice !== undefined) add(twice, "another");
  const text = Buffer.from(
    JSON.stringify({
      format: "shoal-evidence/1",
      created_at: "2026-01-31T12:00:00.000Z",
      server_version: "1.0.0",
      project_id: "p",
      session: {
        session_id: "s",
        name: null,
        created_at: "2026-01-31T11:00:00.000Z",
        ended_at: null,
        ended_reason: null,
        telemetry: [],
      },
      files: Object.entries(files).map(([path, each]) => ({
        path,
        size_bytes: each.length,
        sha256: createHash("sha256").update(each).digest("hex"),
      })),
      left_out: [],
      ...manifest,
    }),
  );
  const signed = sign(null, Buffer.concat([Buffer.from("shoal evidence manifest\n"), text]), privateKey);
  add("manifest.json", text);
  const made = { key_id: keyIdOf(x), algorithm: "Ed25519", public_key: x, signature: signed.toString("base64url") };
  add("manifest.sig.json", JSON.stringify({ ...made, ...signature }));
  zip.end({ forceZip64Format: false, comment: comment ?? "" });
  await pipeline(zip.outputStream, createWriteStream(archive));
}

/** @param from - replaced everywhere by a text of the same length. */
function change(from: string, to: string, which = /(?:)/): void {
  const text = readFileSync(archive).toString("latin1");
  let count = 0;
  const changed = text.replaceAll(from, (found) => (which.test(String(count++)) ? to : found));
  expect(changed).not.toBe(text);
  writeFileSync(archive, Buffer.from(changed, "latin1"));
}

const check = (key = x) =>
  checkBundle(archive, {
    signal: new AbortController().signal,
    trustedKey: () => Promise.resolve(key),
    onBytes: () => undefined,
  });

it("accepts a bundle as it was written", async () => {
  await pack();
  expect(await check()).toMatchObject({ keyId: keyIdOf(x), manifest: { project_id: "p" } });
});

it.each<[string, Changes, string]>([
  ["a changed file", { content: { "downloads/a.txt": "b".repeat(100_000) } }, '"downloads/a.txt" has another content'],
  ["a longer file", { content: { "downloads/a.txt": "a".repeat(100_001) } }, '"downloads/a.txt" has another size'],
  ["an added file", { content: { "more.txt": "" } }, 'its manifest does not list "more.txt"'],
  ["two files with one name", { twice: "telemetry.ndjson" }, 'two files with the name "telemetry.ndjson"'],
  ["a comment", { comment: "hello" }, "it has a comment"],
  ["another format", { manifest: { format: "shoal-evidence/2" } }, "is unknown; update this program"],
  ["another algorithm", { signature: { algorithm: "none" } }, "the signature does not fit"],
  ["an empty signature", { signature: { signature: "" } }, "the signature does not fit"],
  ["a manifest of another shape", { manifest: { files: 3 } }, "unknown shape"],
  [
    "a missing file",
    { manifest: { files: [{ path: "gone", size_bytes: 0, sha256: "" }] } },
    'does not list "telemetry',
  ],
])("refuses %s", async (_what, changes, problem) => {
  await pack(changes);
  await expect(check()).rejects.toThrow(problem);
});

it.each<[what: string, to: string, problem: string, which: RegExp | undefined]>([
  ["a path that leaves the folder", "../loads/a.txtx", "invalid relative path", undefined],
  ["an absolute path", "/ownloads/a.txt", "absolute path", undefined],
  ["a backslash", "downloads\\a.txt", "invalid characters", undefined],
  ["another name before the content", "downloads/b.txt", "has another name before its content", /^0$/],
])("refuses %s", async (_what, to, problem, which) => {
  await pack();
  change("downloads/a.txt", to, which);
  await expect(check()).rejects.toThrow(problem);
});

it("refuses bytes before, between and after the files, sizes that lie, and other files", async () => {
  await pack();
  const bytes = readFileSync(archive);
  const write = (...pieces: Buffer[]) => {
    writeFileSync(archive, Buffer.concat(pieces));
  };
  write(Buffer.alloc(40), bytes);
  await expect(check()).rejects.toThrow();
  const end = bytes.length - 22;
  const directory = bytes.readUInt32LE(end + 16);
  const moved = Buffer.from(bytes.subarray(end));
  moved.writeUInt32LE(directory + 40, 16);
  write(bytes.subarray(0, directory), Buffer.alloc(40), bytes.subarray(directory, end), moved);
  await expect(check()).rejects.toThrow("hidden bytes at its end");
  const lying = Buffer.from(bytes);
  const central = lying.lastIndexOf("manifest.json") - 46;
  lying.writeUInt32LE(lying.readUInt32LE(central + 24) + 1, central + 24);
  write(lying);
  await expect(check()).rejects.toThrow("not enough bytes in the stream");
  write(Buffer.from("no archive"));
  await expect(check()).rejects.toThrow("it is not a ZIP archive");
  write(bytes.subarray(0, bytes.length - 30));
  await expect(check()).rejects.toThrow("it is not a ZIP archive");
});

it("refuses another key, and names the key and the project of the bundle", async () => {
  await pack();
  const other = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x ?? "";
  await expect(check(other)).rejects.toThrow(`key "${keyIdOf(x)}" signed it for project "p"`);
  await pack({ signature: { public_key: other } });
  await expect(check(other)).rejects.toThrow("the signature does not fit the manifest");
});
