import { eventuallyPasses } from "@shoal/testkit";
import { lstat, mkdir, readFile, readdir, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ZipFile } from "yazl";
import { locate } from "../paths.ts";
import { isWithin } from "../protected.ts";
import { handMadeZip, type HandMadeEntry } from "../testing/hand-made-zip.ts";
import { namesIn, rootKinds, serveFileSystem, type Answered, type ServedFileSystem } from "../testing/serve.ts";

const link = 0o120777;

async function send(fs: ServedFileSystem, archive: Buffer, destination: string): Promise<Answered> {
  const form = new FormData();
  form.append("zip_file", new Blob([new Uint8Array(archive)]));
  form.append("dest_path", destination);
  return fs.call("upload_zip", { body: form });
}

describe.each(rootKinds)("archives unpacked below %s", (kind) => {
  it("unpacks the archives of a well-known tool", async () => {
    await using fs = await serveFileSystem(kind);
    const zip = new ZipFile();
    const modified = new Date("2024-02-03T04:05:06Z");
    zip.addBuffer(Buffer.from("content"), "dir/ä.txt", { mode: 0o100751, mtime: modified });
    zip.addBuffer(Buffer.from("#!"), "set-uid", { mode: 0o106755 });
    zip.addBuffer(Buffer.alloc(3_000_000, "z"), "large");
    zip.addEmptyDirectory("empty", { mode: 0o40500 });
    zip.addBuffer(Buffer.from("dir/ä.txt"), "link", { mode: link, compress: false });
    zip.addBuffer(Buffer.from("../large"), "dir/up", { mode: link });
    zip.end();
    expect(await send(fs, await buffer(zip.outputStream), fs.at("new/place"))).toMatchObject({ status: 201, text: "" });
    expect(await namesIn(fs.host("new/place"))).toEqual([
      "dir",
      "dir/up",
      "dir/ä.txt",
      "empty",
      "large",
      "link",
      "set-uid",
    ]);
    expect(await readFile(fs.host("new/place/link"), "utf8")).toBe("content");
    expect(await readlink(fs.host("new/place/dir/up"))).toBe("../large");
    const stats = await stat(fs.host("new/place/dir/ä.txt"));
    expect(stats.mode & 0o7777).toBe(0o751);
    expect(stats.mtime).toEqual(modified);
    expect((await stat(fs.host("new/place/set-uid"))).mode & 0o7777).toBe(0o755);
    expect((await stat(fs.host("new/place/empty"))).mode & 0o7777).toBe(0o700);
    expect((await readFile(fs.host("new/place/large"))).equals(Buffer.alloc(3_000_000, "z"))).toBe(true);
    expect(await namesIn(fs.spool)).toEqual([]);
    expect(await readdir(fs.directory)).toEqual(["new"]);
  });

  it("merges into a directory: keeps existing entries, replaces files and links", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("dest/dir"), { recursive: true });
    for (const name of ["dest/kept", "dest/dir/kept", "dest/dir/old", "target"]) await writeFile(fs.host(name), "old");
    await symlink("../target", fs.host("dest/link"));
    const archive = handMadeZip(
      [
        { name: "dir/old", content: "new" },
        { name: "dir/sub/x" },
        { name: "link", content: "file now" },
        { name: "." },
        { name: "./plain" },
      ].map((entry) => (entry.name === "." ? { name: "./", mode: 0o40755 } : entry)),
    );
    expect(await send(fs, archive, fs.at("dest"))).toMatchObject({ status: 201 });
    expect(await namesIn(fs.host("dest"))).toEqual([
      "dir",
      "dir/kept",
      "dir/old",
      "dir/sub",
      "dir/sub/x",
      "kept",
      "link",
      "plain",
    ]);
    expect(await readFile(fs.host("dest/dir/old"), "utf8")).toBe("new");
    expect(await readFile(fs.host("target"), "utf8")).toBe("old");
    expect((await lstat(fs.host("dest/link"))).isFile()).toBe(true);
  });

  it("changes nothing when a directory would replace a file or a link, or a file a directory", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("dest/dir"), { recursive: true });
    await writeFile(fs.host("dest/file"), "");
    await symlink("dir", fs.host("dest/link"));
    const before = await namesIn(fs.directory);
    for (const [name, code] of [
      ["file/below", "not_a_directory"],
      ["link/below", "not_a_directory"],
      ["dir", "not_a_file"],
    ] as const) {
      const answer = await send(fs, handMadeZip([{ name: "a-new-one" }, { name }]), fs.at("dest"));
      expect(answer).toMatchObject({ status: 400, code });
      expect(answer.message).toContain(fs.at(`dest/${name.split("/")[0] ?? ""}`));
      expect(await namesIn(fs.directory)).toEqual(before);
    }
    expect(await send(fs, handMadeZip([{ name: "x" }]), fs.at("dest/file"))).toMatchObject({
      status: 400,
      code: "not_a_directory",
    });
    expect(await namesIn(fs.spool)).toEqual([]);
  });

  it("rejects hostile archives before writing anything", async () => {
    const limits = { unpackedBytes: 100_000, archiveEntries: 20, ratioFromBytes: 10_000, ratio: 50 };
    await using fs = await serveFileSystem(kind, limits);
    const nested = (depth: number) => Array.from({ length: depth }, (_, index) => String(index)).join("/");
    const hostile: Record<string, readonly HandMadeEntry[]> = {
      "absolute name": [{ name: "/etc/passwd" }],
      parent: [{ name: "a/../../b" }],
      "parent that stays inside": [{ name: "a/../b" }],
      "only a parent": [{ name: ".." }],
      backslash: [{ name: "a\\..\\b" }],
      "drive letter": [{ name: "C:/x" }],
      "drive-relative": [{ name: "c:x" }],
      NUL: [{ name: "a\0b" }],
      "no name": [{ name: "" }],
      "file named dot": [{ name: ".", mode: 0o100644 }],
      "long name": [{ name: "n".repeat(256) }],
      "long path": [{ name: Array.from({ length: 30 }, () => "n".repeat(200)).join("/") }],
      twice: [{ name: "a" }, { name: "./a" }],
      "file and directory": [{ name: "a" }, { name: "a/", mode: 0o40755 }],
      "file as directory": [{ name: "a" }, { name: "a/b" }],
      "directory as file": [{ name: "a/b" }, { name: "a" }],
      "file with a directory's name": [{ name: "a/", mode: 0o100644 }],
      "directory with content": [{ name: "a/", mode: 0o40755, content: "x" }],
      "absolute link": [{ name: "l", mode: link, content: "/etc" }],
      "link out": [{ name: "l", mode: link, content: "../x" }],
      "link out from below": [{ name: "a/l", mode: link, content: "../../x" }],
      "link with a later parent": [{ name: "l", mode: link, content: "a/../../x" }],
      "link by way of another link": [
        { name: "here", mode: link, content: "." },
        { name: "l", mode: link, content: "here/../../x" },
      ],
      "empty link": [{ name: "l", mode: link, content: "" }],
      "link with a drive letter": [{ name: "l", mode: link, content: "C:\\x" }],
      "link with NUL": [{ name: "l", mode: link, content: "a\0b" }],
      "long link": [{ name: "l", mode: link, content: "x".repeat(5000) }],
      "below a link": [
        { name: "l", mode: link, content: "a" },
        { name: "l/x", content: "x" },
      ],
      "link over a file": [{ name: "l" }, { name: "l", mode: link, content: "a" }],
      "character device": [{ name: "d", mode: 0o020666 }],
      "block device": [{ name: "d", mode: 0o060666 }],
      "named pipe": [{ name: "d", mode: 0o010666 }],
      socket: [{ name: "d", mode: 0o140666 }],
      encrypted: [{ name: "e", flags: 0x801 }],
      "unknown method": [{ name: "m", method: 12 }],
      "packed too tightly": [{ name: "bomb", content: Buffer.alloc(20_000) }],
      "the same bytes": [
        { name: "a", content: "xyz" },
        { name: "b", content: "xyz", sameBytesAs: 0 },
      ],
      "more than it declares": [{ name: "a", content: Buffer.alloc(9000), declaredSize: 100 }],
      "stored, more than it declares": [{ name: "a", content: "x".repeat(100), method: 0, declaredSize: 10 }],
    };
    for (const [what, entries] of Object.entries(hostile)) {
      const answer = await send(fs, handMadeZip([{ name: "first", content: "harmless" }, ...entries]), fs.at("dest"));
      expect(answer, what).toMatchObject({ status: 400, code: "unsafe_archive" });
      expect(await namesIn(fs.directory), what).toEqual([]);
      expect(await namesIn(fs.outside), what).toEqual([]);
    }
    const large: Record<string, readonly HandMadeEntry[]> = {
      "much in all": Array.from({ length: 12 }, (_, index) => ({ name: `f${index}`, content: Buffer.alloc(9000) })),
      declared: [{ name: "huge", declaredSize: 0xffff_fff0, declaredPacked: 1 }],
      "many entries": Array.from({ length: 21 }, (_, index) => ({ name: `f${index}` })),
      "many directories": [{ name: nested(21) }],
    };
    for (const [what, entries] of Object.entries(large)) {
      const answer = await send(fs, handMadeZip(entries), fs.at("dest"));
      expect(answer, what).toMatchObject({ status: 413, code: "payload_too_large" });
      expect(await namesIn(fs.directory), what).toEqual([]);
    }
    expect(await namesIn(fs.spool)).toEqual([]);
    expect(fs.faults).toEqual([]);
  });

  it("reports the fault of an invalid or damaged archive, and leaves no files", async () => {
    await using fs = await serveFileSystem(kind);
    const good = handMadeZip([
      { name: "a", content: "some content ".repeat(100) },
      { name: "b", content: "x" },
    ]);
    const brokenData = Buffer.from(good);
    brokenData.fill(0xff, 35, 45);
    const broken: Record<string, Buffer> = {
      empty: Buffer.alloc(0),
      text: Buffer.from("not an archive"),
      "cut at the end": good.subarray(0, -30),
      "cut in the middle": good.subarray(0, 60),
      "cut at the beginning": good.subarray(20),
      "broken data": brokenData,
      "wrong checksum": handMadeZip([{ name: "a", content: "x", declaredCrc: 1 }]),
      "less than it declares": handMadeZip([{ name: "a", content: "x", declaredSize: 100 }]),
      "more entries than there are": handMadeZip([{ name: "a" }], { declaredEntries: 3 }),
    };
    for (const [what, archive] of Object.entries(broken)) {
      const answer = await send(fs, archive, fs.at("dest"));
      expect(answer, what).toMatchObject({ status: 400, code: "bad_request" });
      expect(answer.message, what).toContain("zip_file");
      expect(await namesIn(fs.directory), what).toEqual([]);
    }
    expect(await namesIn(fs.spool)).toEqual([]);
    expect(fs.faults).toEqual([]);
  });

  it("requires both parts, each once", async () => {
    await using fs = await serveFileSystem(kind, { archiveBytes: 1000 });
    const archive = new Blob([new Uint8Array(handMadeZip([{ name: "a" }]))]);
    const wrong: readonly (readonly [readonly (readonly [string, string | Blob])[], number, string])[] = [
      [[["dest_path", fs.at("x")]], 400, "body.zip_file"],
      [[["zip_file", archive]], 400, "body.dest_path"],
      [
        [
          ["zip_file", "text"],
          ["dest_path", fs.at("x")],
        ],
        400,
        "body.zip_file",
      ],
      [
        [
          ["dest_path", "relative"],
          ["zip_file", archive],
        ],
        400,
        "body.dest_path",
      ],
      [
        [
          ["dest_path", fs.at("x")],
          ["zip_file", archive],
          ["zip_file", archive],
        ],
        400,
        "is duplicated",
      ],
      [
        [
          ["dest_path", fs.at("x")],
          ["zip_file", new Blob(["x".repeat(1001)])],
        ],
        413,
        "1000 bytes",
      ],
    ];
    for (const [parts, status, named] of wrong) {
      const form = new FormData();
      for (const [name, value] of parts) form.append(name, value);
      const answer = await fs.call("upload_zip", { body: form });
      expect(answer.status).toBe(status);
      expect(answer.message).toContain(named);
    }
    expect(await namesIn(fs.spool)).toEqual([]);
    expect(await namesIn(fs.directory)).toEqual([]);
  });
});

it("never unpacks outside the directory, for any names and links", async () => {
  await using fs = await serveFileSystem("/");
  const part = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("a", "b", "l") },
    { weight: 1, arbitrary: fc.constantFrom("..", ".", "", "C:", "x\\y", " ") },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 3 }) },
  );
  const entry = fc.record({
    name: fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
    content: fc.array(fc.constantFrom("..", ".", "a", "b", "l", "/"), { maxLength: 4 }).map((parts) => parts.join("/")),
    mode: fc.constantFrom(0o100644, link, 0o40755, 0),
  });
  let round = 0;
  let unpacked = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 4 }), async (entries) => {
      const destination = `dest-${round++}/inner`;
      const { status } = await send(fs, handMadeZip(entries), fs.at(destination));
      expect([201, 400]).toContain(status);
      if (status === 201) unpacked++;
      expect(await namesIn(fs.outside)).toEqual([]);
      const top = await readdir(fs.directory);
      expect(top.every((name) => name.startsWith("dest-"))).toBe(true);
      for (const name of status === 201 ? await namesIn(fs.host(destination)) : []) {
        const place = fs.host(join(destination, name));
        if (!(await lstat(place)).isSymbolicLink()) continue;
        // The target if everything existed; a link in a circle has none.
        const leads = await locate({ directory: "/", home: "/" }, place, { follow: true, action: "read" }).catch(
          () => undefined,
        );
        if (leads !== undefined)
          expect(isWithin(fs.host(destination), join(leads.existing, ...leads.missing))).toBe(true);
      }
    }),
    { numRuns: 80 },
  );
  // About a fifth of them; the rest is refused.
  expect(unpacked).toBeGreaterThan(2);
  expect(fs.faults).toEqual([]);
});

it("leaves no files, not even open ones, when the client disconnects", async () => {
  await using fs = await serveFileSystem("/");
  const { hostname, port } = new URL(fs.url);
  const openFiles = async () => {
    const links = await Promise.all(
      (await readdir("/proc/self/fd")).map((fd) => readlink(join("/proc/self/fd", fd)).catch(() => "")),
    );
    return links.filter((target) => target.startsWith(fs.spool) || target.startsWith(fs.directory));
  };
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /fs/upload_zip HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000000\r\n\r\n--b\r\nContent-Disposition: form-data; name="zip_file"; filename="x"\r\n\r\n${"x".repeat(100_000)}`,
  );
  await eventuallyPasses(async () => {
    expect(await namesIn(fs.spool)).toHaveLength(1);
    expect(await openFiles()).toHaveLength(1);
  });
  socket.destroy();
  await eventuallyPasses(async () => {
    expect(await namesIn(fs.spool)).toEqual([]);
    expect(await openFiles()).toEqual([]);
  });
});
