import { eventuallyPasses } from "@shoal/testkit";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, readlink, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromBufferPromise } from "yauzl";
import { asPlainUser, namesIn, rootKinds, serveFileSystem, type ServedFileSystem } from "../testing/serve.ts";
import { zipArchive, type ZipEntry } from "./zip-writer.ts";

async function download(fs: ServedFileSystem, path: string): Promise<Buffer> {
  const response = await fetch(`${fs.url}/fs/download_dir_zip?${new URLSearchParams({ path }).toString()}`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/zip");
  return Buffer.from(await response.arrayBuffer());
}

interface Unpacked {
  readonly mode: number;
  readonly modified: Date;
  readonly content: Buffer;
  readonly raw: Buffer;
}

async function unpack(archive: Buffer): Promise<{ entries: Map<string, Unpacked>; comment: string }> {
  const zip = await fromBufferPromise(archive, { strictFileNames: true });
  const entries = new Map<string, Unpacked>();
  for await (const entry of zip.eachEntry()) {
    const content = entry.fileName.endsWith("/")
      ? Buffer.alloc(0)
      : await buffer(await zip.openReadStreamPromise(entry));
    entries.set(entry.fileName, {
      mode: entry.externalFileAttributes >>> 16,
      modified: entry.getLastModDate(),
      content,
      raw: entry.fileNameRaw,
    });
  }
  return { entries, comment: zip.comment };
}

describe.each(rootKinds)("archives of directories below %s", (kind) => {
  it("contain files, empty directories and links with their modes and times", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("dir/empty"), { recursive: true });
    await mkdir(fs.host("dir/sub"));
    await writeFile(fs.host("dir/sub/ä.txt"), "content");
    await writeFile(fs.host("dir/zero"), "");
    const large = randomBytes(1_000_000);
    await writeFile(fs.host("dir/large"), large);
    await writeFile(fs.host("dir/.shoal-0a1b.part"), "unfinished");
    await chmod(fs.host("dir/sub/ä.txt"), 0o750);
    const modified = new Date("2031-02-03T04:05:07Z");
    await utimes(fs.host("dir/sub/ä.txt"), modified, modified);
    await symlink("/etc/passwd", fs.host("dir/link"));
    await symlink("sub", fs.host("dir/to-dir"));
    execFileSync("mkfifo", [fs.host("dir/pipe")]);
    const { entries, comment } = await unpack(await download(fs, fs.at("dir")));
    expect([...entries.keys()]).toEqual(["empty/", "large", "link", "sub/", "sub/ä.txt", "to-dir", "zero"]);
    expect(entries.get("large")?.content.equals(large)).toBe(true);
    expect(entries.get("sub/ä.txt")).toMatchObject({ mode: 0o100750, modified, content: Buffer.from("content") });
    expect(entries.get("link")).toMatchObject({ mode: 0o120777, content: Buffer.from("/etc/passwd") });
    expect(entries.get("empty/")?.mode).toBe(0o040755);
    expect(comment).toBe("");
    const response = await fetch(
      `${fs.url}/fs/download_dir_zip?${new URLSearchParams({ path: fs.at("dir") }).toString()}`,
    );
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="dir.zip"');
    await response.arrayBuffer();
  });

  it("can be unpacked by an upload", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("from/a/b"), { recursive: true });
    await writeFile(fs.host("from/a/b/file"), randomBytes(300_000));
    await writeFile(fs.host("from/a/x"), "x".repeat(1000));
    await symlink("b/file", fs.host("from/a/link"));
    const form = new FormData();
    form.append("dest_path", fs.at("to"));
    form.append("zip_file", new Blob([new Uint8Array(await download(fs, fs.at("from")))]));
    expect(await fs.call("upload_zip", { body: form })).toMatchObject({ status: 201 });
    expect(await namesIn(fs.host("to"))).toEqual(await namesIn(fs.host("from")));
    expect((await readFile(fs.host("to/a/link"))).equals(await readFile(fs.host("from/a/link")))).toBe(true);
  });

  it("are created only of directories, and are empty for an empty directory", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("empty"));
    await writeFile(fs.host("file"), "");
    expect((await unpack(await download(fs, fs.at("empty")))).entries.size).toBe(0);
    expect(await fs.call("download_dir_zip", { query: { path: fs.at("file") } })).toMatchObject({
      status: 400,
      code: "not_a_directory",
    });
    expect(await fs.call("download_dir_zip", { query: { path: fs.at("none") } })).toMatchObject({
      status: 404,
      code: "not_found",
    });
  });
});

it("keeps names as bytes: backslashes, colons and invalid UTF-8", async () => {
  await using fs = await serveFileSystem("/");
  execFileSync("sh", ["-c", "touch 'C:x' '..\\y' \"$(printf 'bad\\377')\""], { cwd: fs.directory });
  const archive = await download(fs, fs.at(""));
  const zip = await fromBufferPromise(archive, { decodeStrings: false });
  const names: Buffer[] = [];
  for await (const entry of zip.eachEntry()) names.push(entry.fileNameRaw);
  expect(names.map((name) => name.toString("latin1"))).toEqual(["..\\y", "C:x", "bad\xff"]);
});

it("omits unreadable files, and lists them in the archive's comment", async () => {
  await asPlainUser(async () => {
    await using fs = await serveFileSystem("/");
    await mkdir(fs.host("dir"));
    for (const name of ["a", "secret", "z"]) await writeFile(fs.host(`dir/${name}`), name);
    await chmod(fs.host("dir/secret"), 0);
    const { comment, entries } = await unpack(await download(fs, fs.at("dir")));
    expect([...entries.keys()]).toEqual(["a", "z"]);
    expect(comment).toContain("secret");
    await chmod(fs.host("dir"), 0);
    expect(await fs.call("download_dir_zip", { query: { path: fs.at("dir") } })).toMatchObject({
      status: 403,
      code: "permission_denied",
    });
    await chmod(fs.host("dir"), 0o755);
  });
});

it("is complete although files vanish, grow and shrink meanwhile", async () => {
  await using fs = await serveFileSystem("/");
  for (let index = 10; index < 60; index++) await writeFile(fs.host(`file-${index}`), randomBytes(400_000));
  const response = await fetch(`${fs.url}/fs/download_dir_zip?${new URLSearchParams({ path: fs.at("") }).toString()}`);
  const reader = response.body?.getReader();
  const chunks = [(await reader?.read())?.value ?? new Uint8Array()];
  // The rest waits for the reader: most files are not open yet.
  for (let index = 40; index < 50; index++) await rm(fs.host(`file-${index}`));
  for (let index = 50; index < 55; index++) await writeFile(fs.host(`file-${index}`), "short");
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) chunks.push(next.value);
  const { entries } = await unpack(Buffer.concat(chunks));
  expect(entries.size).toBe(40);
  expect(entries.get("file-50")?.content.toString()).toBe("short");
  expect(fs.faults).toEqual([]);
});

it("stops and closes its files when the client disconnects", async () => {
  await using fs = await serveFileSystem("/");
  for (let index = 0; index < 30; index++) await writeFile(fs.host(`file-${index}`), randomBytes(2_000_000));
  const openFiles = async () => {
    const links = await Promise.all(
      (await readdir("/proc/self/fd")).map((fd) => readlink(join("/proc/self/fd", fd)).catch(() => "")),
    );
    return links.filter((target) => target.startsWith(fs.directory));
  };
  const { hostname, port } = new URL(fs.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(
    `GET /fs/download_dir_zip?${new URLSearchParams({ path: fs.at("") }).toString()} HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  await eventuallyPasses(async () => {
    expect(await openFiles()).toHaveLength(1);
  });
  socket.destroy();
  await eventuallyPasses(async () => {
    expect(await openFiles()).toEqual([]);
  });
  expect(fs.faults).toEqual([]);
});

describe("zipArchive", () => {
  const file = (name: string, content: ZipEntry["content"]): ZipEntry => ({
    name: Buffer.from(name),
    mode: 0o100644,
    modified: new Date(0),
    content,
  });
  async function* each(entries: Iterable<ZipEntry>): AsyncGenerator<ZipEntry> {
    yield* entries;
  }

  it("supports more than 65,535 entries (ZIP64)", async () => {
    const many = function* () {
      for (let index = 0; index < 70_000; index++) yield file(`d/${index}`, Buffer.alloc(0));
    };
    const archive: Buffer[] = [];
    for await (const piece of zipArchive(each(many()), () => "comment")) archive.push(piece);
    const zip = await fromBufferPromise(Buffer.concat(archive));
    expect(zip.entryCount).toBe(70_000);
    expect(zip.comment).toBe("comment");
    let last = "";
    for await (const entry of zip.eachEntry()) last = entry.fileName;
    expect(last).toBe("d/69999");
  });

  it("writes any content so that it is read back unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.uint8Array({ maxLength: 300 })), {
          selector: ([name]) => name,
          maxLength: 6,
        }),
        async (files) => {
          const archive: Buffer[] = [];
          for await (const piece of zipArchive(
            each(files.map(([name, content]) => file(name, Buffer.from(content)))),
            () => "",
          ))
            archive.push(piece);
          const { entries } = await unpack(Buffer.concat(archive));
          expect([...entries].map(([name, { content }]) => [name, content.toString("hex")])).toEqual(
            files.map(([name, content]) => [name, Buffer.from(content).toString("hex")]),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it("fails when the stream of an entry fails, and ends the stream", async () => {
    const stream = new Readable({
      read() {
        this.destroy(new Error("cannot be read"));
      },
    });
    await expect(
      buffer(Readable.from(zipArchive(each([file("a", { stream, sizeBytes: 1_000_000 })]), () => ""))),
    ).rejects.toThrow("cannot be read");
    expect(stream.destroyed).toBe(true);
  });
});
