import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { ParsePool } from "../parsing/parse-pool.ts";
import type { UnpackRequest } from "./unpack-zip.ts";

let folder: string;
let pool: ParsePool;
let target: string;
let number = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-unpack-"));
  pool = new ParsePool();
});
afterAll(async () => {
  await pool.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  target = join(folder, `target-${String((number += 1))}`);
  mkdirSync(target);
});

interface Given {
  readonly path: string;
  readonly content?: string | Buffer;
  readonly mode?: number;
}

const link = (path: string, content: string): Given => ({ path, content, mode: 0o120777 });

async function archiveOf(entries: readonly Given[], change: (zip: Buffer) => Buffer = (zip) => zip): Promise<string> {
  const zip = new ZipFile();
  for (const { path, content = path, mode = 0o100644 } of entries)
    if (path.endsWith("/")) zip.addEmptyDirectory(path);
    else zip.addBuffer(Buffer.from(content), path, { mode });
  zip.end();
  const path = join(folder, `archive-${String((number += 1))}.zip`);
  await writeFile(path, change(await buffer(zip.outputStream)));
  return path;
}

async function unpack(entries: readonly Given[], options: Partial<UnpackRequest> = {}): Promise<unknown> {
  const archive = options.archive ?? (await archiveOf(entries));
  const limits = { entries: 100, unpackedBytes: 2 ** 20 };
  return pool
    .run(
      "unpackZip",
      { folder: target, limits, stripTop: false, root: "", ...options, archive },
      { owner: "p", signal: new AbortController().signal },
    )
    .catch((error: unknown) => (error instanceof Error ? error.message : error));
}

/** Replaces a name in all headers by one of the same length. */
const renamed = (from: string, to: string) => (zip: Buffer) =>
  Buffer.from(zip.toString("latin1").replaceAll(from, to), "latin1");

it("unpacks files, folders, links inside and executables", async () => {
  const entries = [
    { path: "package.json" },
    { path: ".hidden" },
    { path: "src/" },
    { path: "src/deep/app.ts" },
    { path: "run.sh", mode: 0o100755 },
    link("src/current", "deep/app.ts"),
    link("src/deep/up", "../../package.json"),
    link("missing", "src/later"),
    { path: "__MACOSX/._run.sh" },
  ];
  expect(await unpack(entries)).toEqual({ files: 4 });
  expect(readdirSync(target).sort()).toEqual([".hidden", "missing", "package.json", "run.sh", "src"]);
  expect(readFileSync(join(target, "src/current"), "utf8")).toBe("src/deep/app.ts");
  expect(readFileSync(join(target, "src/deep/up"), "utf8")).toBe("package.json");
  expect(readlinkSync(join(target, "missing"))).toBe("src/later");
  expect(statSync(join(target, "run.sh")).mode & 0o777).toBe(0o755);
  expect(statSync(join(target, "package.json")).mode & 0o777).toBe(0o644);
});

it("unpacks a folder of a repository without the repository's own folder", async () => {
  const entries = ["repo-main/README", "repo-main/apps/one/index.ts", "repo-main/apps/two/index.ts"].map((path) => ({
    path,
  }));
  expect(await unpack(entries, { stripTop: true, root: "apps/two" })).toEqual({ files: 1 });
  expect(readdirSync(target)).toEqual(["index.ts"]);
  expect(readFileSync(join(target, "index.ts"), "utf8")).toBe("repo-main/apps/two/index.ts");
  expect(await unpack(entries, { stripTop: true, root: "apps/three" })).toBe('has no folder "apps/three"');
});

const zeros = Buffer.alloc(600_000);
it.each<[string, () => Promise<string>, string]>([
  [
    "a path that leaves the archive",
    () => archiveOf([{ path: "aa/bb/evil.js" }], renamed("aa/bb/evil.js", "../../evil.js")),
    "invalid relative path: ../../evil.js",
  ],
  [
    "an absolute path",
    () => archiveOf([{ path: "a/etc/passwd" }], renamed("a/etc/passwd", "//etc/passwd")),
    "absolute path: //etc/passwd",
  ],
  [
    "two entries of one name",
    () => archiveOf([{ path: "aa" }, { path: "ab" }], renamed("ab", "aa")),
    'the entry "aa" is duplicated',
  ],
  ["two spellings of one name", () => archiveOf([{ path: "a/./b" }, { path: "a/b" }]), 'the entry "a/b" is duplicated'],
  ["a link to a parent", () => archiveOf([link("a/out", "../../secret")]), "a link that leaves the archive"],
  ["an absolute link", () => archiveOf([link("out", "/etc/passwd")]), "a link that leaves the archive"],
  [
    "a link through another link",
    () => archiveOf([link("here", "."), link("out", "here/../secret")]),
    "a link that leaves the archive",
  ],
  [
    "a file below a link",
    () => archiveOf([link("here", "."), { path: "here/evil" }]),
    'the entry "here/evil" is below "here", a link',
  ],
  ["a file below a file", () => archiveOf([{ path: "a" }, { path: "a/b" }]), 'the entry "a/b" is below "a", a file'],
  ["a name that is too long", () => archiveOf([{ path: "x".repeat(300) }]), "has a name that is too long"],
  ["a device", () => archiveOf([{ path: "tty", mode: 0o020666 }]), "is a device"],
  [
    "more bytes than the limit",
    () =>
      archiveOf([
        { path: "a", content: zeros },
        { path: "b", content: zeros },
      ]),
    "unpacks to more than 1 MiB",
  ],
  [
    "more entries than the limit",
    () => archiveOf(Array.from({ length: 101 }, (_, index) => ({ path: String(index) }))),
    "has 101 entries; the limit is 100.",
  ],
  [
    "content that is longer than announced",
    () =>
      archiveOf([{ path: "bomb", content: zeros }], (zip) => {
        const size = Buffer.alloc(4);
        size.writeUInt32LE(zeros.length);
        const small = Buffer.alloc(4);
        small.writeUInt32LE(10);
        return renamed(size.toString("latin1"), small.toString("latin1"))(zip);
      }),
    "is a damaged ZIP archive",
  ],
])("refuses %s", async (_what, archive, message) => {
  expect(await unpack([], { archive: await archive() })).toContain(message);
  for (const path of ["../evil.js", "../../evil.js", "../secret", "evil"])
    expect(existsSync(join(target, path))).toBe(false);
});

it("reads names in UTF-8 without the flag, as macOS writes them", async () => {
  const withoutFlag = (zip: Buffer): Buffer => {
    const [local, central] = [zip.indexOf("PK\x03\x04"), zip.indexOf("PK\x01\x02")];
    zip.writeUInt16LE(zip.readUInt16LE(local + 6) & ~0x800, local + 6);
    zip.writeUInt16LE(zip.readUInt16LE(central + 8) & ~0x800, central + 8);
    return zip;
  };
  await unpack([], { archive: await archiveOf([{ path: "größe.ts" }], withoutFlag) });
  expect(readdirSync(target)).toEqual(["größe.ts"]);
});
