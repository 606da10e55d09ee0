import type { BrowserFiles } from "@shoal/client";
import fc from "fast-check";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { allOf } from "./testing/all-of.ts";
import { placements } from "./testing/components.ts";
import { codeOf, refusalOf } from "./testing/refusal.ts";
import { useService } from "./testing/service.ts";
import { hostPathOf } from "./testing/session-folder.ts";
import { useSession } from "./testing/session.ts";
import { until } from "./testing/until.ts";
import { linkMode, namesIn, renameEntry, zipOf } from "./testing/zip.ts";

vi.setConfig({ testTimeout: 30_000 });

const bytesOf = async ({ stream }: { stream: ReadableStream<Uint8Array<ArrayBuffer>> }) => new Uint8Array(await new Response(stream).arrayBuffer());

/** Every operation that takes a path, called with it; what `field` names in a 400. Whoever adds an operation adds a line. */
const onPath: Readonly<Record<string, { readonly field: string; readonly call: (fs: BrowserFiles, id: string, path: string) => Promise<unknown> }>> = {
  "readFile": { field: "query.path", call: (fs, id, path) => fs.readBytes(id, { path }) },
  "writeFile": { field: "query.path", call: (fs, id, path) => fs.writeFile(id, "x", { path }) },
  "listFiles": { field: "query.path", call: (fs, id, path) => fs.listFiles(id, { path }) },
  "createDirectory": { field: "body.path", call: (fs, id, path) => fs.createDirectory(id, { path }) },
  "deleteFile": { field: "body.path", call: (fs, id, path) => fs.deleteFile(id, { path }) },
  "deleteDirectory": { field: "body.path", call: (fs, id, path) => fs.deleteDirectory(id, { path }) },
  "setFilePermissions": { field: "body.path", call: (fs, id, path) => fs.setFilePermissions(id, { path, mode: "644" }) },
  "fileInfo": { field: "query.path", call: (fs, id, path) => fs.fileInfo(id, { path }) },
  "move from": { field: "body.src_path", call: (fs, id, path) => fs.move(id, { src_path: path, dest_path: "/home/shoal/never" }) },
  "move to": { field: "body.dest_path", call: (fs, id, path) => fs.move(id, { src_path: "/home/shoal/Downloads/never", dest_path: path }) },
  "upload": { field: "body.files[0][dest_path]", call: (fs, id, path) => fs.upload(id, { files: [{ dest_path: path, file: new Blob(["x"]) }] }) },
  "uploadZip": { field: "body.dest_path", call: async (fs, id, path) => fs.uploadZip(id, { dest_path: path, zip_file: await zipOf([{ name: "x", content: "x" }]) }) },
  "downloadDirZip": { field: "query.path", call: async (fs, id, path) => bytesOf(await fs.downloadDirZip(id, { path })) },
  "watch.start": { field: "body.path", call: (fs, id, path) => fs.watch.start(id, { path }) },
};
const operations = Object.entries(onPath).map(([name, operation]) => ({ name, ...operation }));
/** Those that make what is missing. */
const makers = new Set(["writeFile", "createDirectory", "upload", "uploadZip", "move to"]);

/** A file name of any characters that Linux has, up to 255 bytes. */
const fileName = fc
  .oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 12 }), fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }), fc.string({ unit: "binary", minLength: 100, maxLength: 255 }), fc.constantFrom("…", "a b", "%2F", "%00", "\\..\\", "*?", "-rf", "~", "\n", " ", ".hidden", "\u00fc", "u\u0308", "𝒳".repeat(63), "n".repeat(255)))
  .map((name) => Buffer.from(name.replaceAll(/[/\0]/g, "_")).subarray(0, 255).toString().replace(/�$/, ""))
  .filter((name) => name !== "" && name !== "." && name !== "..");

describe.each(placements)("files in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a session", () => {
    const test = useService(() => ["--placement", placement]);
    const session = useSession(test);
    /** Whether the session's programs are bound by permissions: root is not. */
    const bound = placement === "sandbox" || process.geteuid?.() !== 0;

    it("serves all fifteen operations", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.createDirectory(id, { path: `${home}/a/b/c` });
      const { watch_id } = await fs.watch.start(id, { path: home, recursive: true });
      const events = allOf(fs.watch.events(id, watch_id));
      await fs.writeFile(id, "hällo", { path: `${home}/a/file.txt` });
      expect(await fs.readText(id, { path: `${home}/a/file.txt` })).toBe("hällo");
      expect(await fs.fileInfo(id, { path: `${home}/a/file.txt` })).toMatchObject({ name: "file.txt", path: `${home}/a/file.txt`, size_bytes: 6, is_dir: false, mode: "-rw-r--r--" });
      await fs.setFilePermissions(id, { path: `${home}/a/file.txt`, mode: "600" });
      await fs.move(id, { src_path: `${home}/a/file.txt`, dest_path: `${home}/a/b/moved.txt` });
      await fs.upload(id, { files: ["1", "2"].map((name) => ({ dest_path: `${home}/up/${name}`, file: new Blob([name]) })) });
      await fs.uploadZip(id, { dest_path: `${home}/zip`, zip_file: await zipOf([{ name: "deep/er.txt", content: "zipped" }]) });
      const listed = await fs.listFiles(id, { path: home });
      expect(listed.map(({ name, is_dir, mode }) => [name, is_dir, mode])).toEqual([["a", true, "drwxr-xr-x"], ["up", true, "drwxr-xr-x"], ["zip", true, "drwxr-xr-x"]]);
      expect(Math.abs(Date.parse(listed[0]?.mod_time ?? "") - Date.now())).toBeLessThan(60_000);
      expect(namesIn(await bytesOf(await fs.downloadDirZip(id, { path: home })))).toEqual(["a/", "a/b/", "a/b/c/", "a/b/moved.txt", "up/", "up/1", "up/2", "zip/", "zip/deep/", "zip/deep/er.txt"]);
      await fs.deleteFile(id, { path: `${home}/up/1` });
      await fs.deleteDirectory(id, { path: `${home}/a` });
      await fs.watch.stop(id, watch_id);
      const lines = (await events).map(({ type, path }) => `${type} ${path.slice(home.length)}`);
      expect(lines).toEqual(expect.arrayContaining(["CREATE /a/file.txt", "RENAME /a/file.txt", "CREATE /a/b/moved.txt", "CREATE /zip/deep/er.txt", "DELETE /up/1", "DELETE /a"]));
      expect((await fs.listFiles(id, { path: home })).map(({ name }) => name)).toEqual(["up", "zip"]);
    });

    it("takes every name that Linux has", async () => {
      const { fs, id } = session;
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(fileName, { minLength: 1, maxLength: 8 }), async (names) => {
          const home = await session.freshDirectory();
          for (const name of names) await fs.writeFile(id, name, { path: `${home}/from/${name}` });
          expect((await fs.listFiles(id, { path: `${home}/from` })).map(({ name }) => name)).toEqual([...names].sort((a, b) => (a < b ? -1 : 1)));
          for (const name of names) {
            await fs.move(id, { src_path: `${home}/from/${name}`, dest_path: `${home}/to/${name}` }).catch(async (error: unknown) => {
              // The first one: its new directory is not made by a move.
              if (names[0] !== name) throw error;
              await fs.createDirectory(id, { path: `${home}/to` });
              await fs.move(id, { src_path: `${home}/from/${name}`, dest_path: `${home}/to/${name}` });
            });
            const download = await fs.readFile(id, { path: `${home}/to/${name}` });
            expect(await new Response(download.stream).text()).toBe(name);
            expect((await fs.fileInfo(id, { path: `${home}/to/${name}` })).name).toBe(name);
          }
          const archive = await bytesOf(await fs.downloadDirZip(id, { path: `${home}/to` }));
          expect(namesIn(archive).sort()).toEqual([...names].sort());
          for (const name of names) await fs.deleteFile(id, { path: `${home}/to/${name}` });
          expect(await fs.listFiles(id, { path: `${home}/to` })).toEqual([]);
          await fs.deleteDirectory(id, { path: home });
        }),
        { numRuns: 15, interruptAfterTimeLimit: 20_000 },
      );
    }, 60_000);

    it("keeps a tree whole through a download and an upload as an archive", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.uploadZip(id, {
        dest_path: `${home}/from`,
        zip_file: await zipOf([
          { name: "plain", content: "1" },
          { name: "run.sh", content: "#!/bin/sh", mode: 0o100755 },
          { name: "empty/", content: "", mode: 0o040750 },
          { name: "a/b/ü 𝒳.txt", content: "ü".repeat(100_000) },
          { name: "a/link", content: "b/ü 𝒳.txt", mode: linkMode },
        ]),
      });
      await fs.uploadZip(id, { dest_path: `${home}/to`, zip_file: await bytesOf(await fs.downloadDirZip(id, { path: `${home}/from` })) });
      for (const path of ["", "/a", "/a/b"]) {
        const [from, to] = await Promise.all(["from", "to"].map(async (side) => (await fs.listFiles(id, { path: `${home}/${side}${path}` })).map(({ name, mode, size_bytes }) => ({ name, mode, size_bytes }))));
        expect(to).toEqual(from);
      }
      expect(await fs.readText(id, { path: `${home}/to/a/link` })).toBe("ü".repeat(100_000));
      expect((await fs.fileInfo(id, { path: `${home}/to/run.sh` })).mode).toBe("-rwxr-xr-x");
    });

    it.each([["600", "-rw-------"], ["0755", "-rwxr-xr-x"], ["000", "----------"], ["4711", "-rws--x--x"], ["1777", "-rwxrwxrwt"]])("sets the mode %s", async (mode, text) => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const path = `${home}/file`;
      await fs.writeFile(id, "1", { path, mode });
      expect((await fs.fileInfo(id, { path })).mode).toBe(text);
      await fs.setFilePermissions(id, { path, mode: "644" });
      expect((await fs.fileInfo(id, { path })).mode).toBe("-rw-r--r--");
      await fs.setFilePermissions(id, { path, mode });
      expect((await fs.fileInfo(id, { path })).mode).toBe(text);
      await fs.createDirectory(id, { path: `${home}/new/dir`, mode });
      expect((await fs.listFiles(id, { path: `${home}/new` }))[0]?.mode).toBe(`d${text.slice(1)}`);
    });

    it("keeps the mode of a file that is written again, and honours it", async () => {
      const { fs, id } = session;
      const path = `${await session.freshDirectory()}/file`;
      await fs.writeFile(id, "1", { path, mode: "640" });
      await fs.writeFile(id, "2", { path });
      expect((await fs.fileInfo(id, { path })).mode).toBe("-rw-r-----");
      await fs.setFilePermissions(id, { path, mode: "000" });
      if (bound) {
        expect(await codeOf(fs.readBytes(id, { path }))).toBe("403 permission_denied");
        expect(await codeOf(fs.writeFile(id, "3", { path }))).toBe("403 permission_denied");
        expect(await codeOf(fs.setFilePermissions(id, { path, mode: "600", owner: "0" }))).toBe("403 permission_denied");
      }
      await fs.setFilePermissions(id, { path, mode: "600" });
      expect(await fs.readText(id, { path })).toBe("2");
      expect(await refusalOf(fs.setFilePermissions(id, { path, mode: "600", owner: "nobody-of-that-name" }))).toMatchObject({ status: 400, message: expect.stringContaining("body.owner") as unknown });
      for (const mode of ["8", "99", "rwx", "", "77777", "-1"]) expect((await refusalOf(fs.setFilePermissions(id, { path, mode }))).status).toBe(400);
    });

    it("works through symbolic links, and on them", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.uploadZip(id, {
        dest_path: home,
        zip_file: await zipOf([
          { name: "real/file", content: "old" },
          { name: "to-file", content: "real/file", mode: linkMode },
          { name: "to-dir", content: "real", mode: linkMode },
          { name: "dangling", content: "real/not-yet", mode: linkMode },
          { name: "circle", content: "circle", mode: linkMode },
        ]),
      });
      expect(await fs.fileInfo(id, { path: `${home}/to-dir` })).toMatchObject({ is_dir: false, mode: "lrwxrwxrwx" });
      expect(await fs.readText(id, { path: `${home}/to-dir/file` })).toBe("old");
      await fs.writeFile(id, "new", { path: `${home}/to-file` });
      expect((await fs.fileInfo(id, { path: `${home}/to-file` })).mode).toBe("lrwxrwxrwx");
      expect(await fs.readText(id, { path: `${home}/real/file` })).toBe("new");
      await fs.writeFile(id, "made", { path: `${home}/dangling` });
      expect(await fs.readText(id, { path: `${home}/real/not-yet` })).toBe("made");
      expect((await fs.listFiles(id, { path: `${home}/to-dir` })).map(({ path }) => path)).toEqual([`${home}/to-dir/file`, `${home}/to-dir/not-yet`]);
      expect(namesIn(await bytesOf(await fs.downloadDirZip(id, { path: `${home}/to-dir` })))).toEqual(["file", "not-yet"]);
      expect(await refusalOf(fs.readBytes(id, { path: `${home}/circle` }))).toMatchObject({ status: 400, message: expect.stringContaining(`${home}/circle`) as unknown });

      expect(await codeOf(fs.deleteDirectory(id, { path: `${home}/to-dir` }))).toBe("400 not_a_directory");
      await fs.createDirectory(id, { path: `${home}/to-dir/sub/deep` });
      await fs.deleteDirectory(id, { path: `${home}/to-dir/sub` });
      await fs.move(id, { src_path: `${home}/to-file`, dest_path: `${home}/moved-link` });
      expect((await fs.fileInfo(id, { path: `${home}/moved-link` })).mode).toBe("lrwxrwxrwx");
      for (const link of ["moved-link", "to-dir", "dangling", "circle"]) await fs.deleteFile(id, { path: `${home}/${link}` });
      expect((await fs.listFiles(id, { path: home })).map(({ name }) => name)).toEqual(["real"]);
      expect((await fs.listFiles(id, { path: `${home}/real` })).map(({ name }) => name)).toEqual(["file", "not-yet"]);
    });

    it("unpacks no archive that reaches out of its directory", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const innocent = { name: "innocent", content: "1" };
      const hostile = {
        "a name with ..": renameEntry(await zipOf([innocent, { name: "up/file", content: "x" }]), "up/file", "../file"),
        "an absolute name": renameEntry(await zipOf([innocent, { name: "_tmp/file", content: "x" }]), "_tmp/file", "/tmp/file"),
        "an absolute link": await zipOf([innocent, { name: "link", content: "/etc", mode: linkMode }]),
        "a link that climbs out": await zipOf([innocent, { name: "link", content: "../../etc", mode: linkMode }]),
        "a file below a link": await zipOf([innocent, { name: "link", content: "sub", mode: linkMode }, { name: "link/file", content: "x" }]),
        "a bomb": await zipOf([innocent, { name: "zeros", content: "\0".repeat(80 * 1024 * 1024) }]),
      };
      for (const [what, zip_file] of Object.entries(hostile)) expect([what, await codeOf(fs.uploadZip(id, { dest_path: `${home}/unpacked`, zip_file }))]).toEqual([what, "400 unsafe_archive"]);
      expect(await codeOf(fs.uploadZip(id, { dest_path: `${home}/unpacked`, zip_file: "no archive" }))).toBe("400 bad_request");
      expect(await fs.listFiles(id, { path: home })).toEqual([]);
    });

    it("protects the root, the home directory and what holds it, by any path", async () => {
      const { fs, id } = session;
      await fs.uploadZip(id, { dest_path: "/", zip_file: await zipOf([{ name: "alias", content: "home", mode: linkMode }]) });
      const paths = ["/", "/home", "/home/shoal", "/home/shoal/", "//home//shoal", "/home/shoal/x/..", "/../..", "/alias/shoal", ...(placement === "sandbox" ? ["/usr", "/etc", "/proc", "/dev", "/run", "/run/shoal", "/var"] : [])];
      for (const path of paths) {
        expect([path, await codeOf(fs.deleteDirectory(id, { path }))]).toEqual([path, "403 protected_path"]);
        expect([path, await codeOf(fs.deleteDirectory(id, { path }, { missing_ok: true }))]).toEqual([path, "403 protected_path"]);
        expect([path, await codeOf(fs.move(id, { src_path: path, dest_path: "/tmp/elsewhere" }))]).toEqual([path, "403 protected_path"]);
      }
      expect((await fs.fileInfo(id, { path: "/home/shoal" })).is_dir).toBe(true);
      await fs.deleteFile(id, { path: "/alias" });
    });

    it("tells a missing directory from a file, with missing_ok and without", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.writeFile(id, "1", { path: `${home}/file` });
      expect(await codeOf(fs.deleteDirectory(id, { path: `${home}/missing` }))).toBe("404 not_found");
      await fs.deleteDirectory(id, { path: `${home}/missing` }, { missing_ok: true });
      await fs.deleteDirectory(id, { path: `${home}/missing/too/deep` }, { missing_ok: true });
      expect(await codeOf(fs.deleteDirectory(id, { path: `${home}/file` }, { missing_ok: true }))).toBe("400 not_a_directory");
      expect(await codeOf(fs.deleteFile(id, { path: home }))).toBe("400 not_a_file");
    });

    it("moves over a file, not over a directory, and not into itself", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      for (const name of ["a", "b"]) await fs.writeFile(id, name, { path: `${home}/${name}` });
      await fs.move(id, { src_path: `${home}/a`, dest_path: `${home}/b` });
      expect(await fs.readText(id, { path: `${home}/b` })).toBe("a");
      await fs.createDirectory(id, { path: `${home}/dir/sub` });
      expect(await codeOf(fs.move(id, { src_path: `${home}/b`, dest_path: `${home}/dir` }))).toBe("409 conflict");
      expect(await codeOf(fs.move(id, { src_path: `${home}/dir`, dest_path: `${home}/b` }))).toBe("409 conflict");
      expect(await codeOf(fs.move(id, { src_path: `${home}/dir`, dest_path: `${home}/dir/sub/in` }))).toBe("400 bad_request");
      expect(await codeOf(fs.move(id, { src_path: `${home}/b`, dest_path: `${home}/no/such/place` }))).toBe("404 not_found");
    });

    it("leaves the old content when a write is aborted midway, and nothing of a new file", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const onHost = await hostPathOf(test, id, home);
      await fs.writeFile(id, "old", { path: `${home}/file` });
      const unfinished = (): ReadableStream<Uint8Array<ArrayBuffer>> => {
        let chunks = 0;
        return new ReadableStream({
          async pull(controller) {
            if (chunks++ < 16) controller.enqueue(new Uint8Array(64 * 1024));
            else await new Promise(() => undefined);
          },
        });
      };
      for (const path of [`${home}/file`, `${home}/new`]) {
        const abort = new AbortController();
        const writing = fs.writeFile(id, unfinished(), { path }, { signal: abort.signal });
        await until("the content arrives", () => readdirSync(onHost).some((name) => name.endsWith(".part")));
        expect(await fs.readText(id, { path: `${home}/file` })).toBe("old");
        abort.abort(new Error("changed my mind"));
        await expect(writing).rejects.toThrow("changed my mind");
        await until("what had arrived is removed", () => !readdirSync(onHost).some((name) => name.endsWith(".part")));
      }
      expect((await fs.listFiles(id, { path: home })).map(({ name, size_bytes }) => [name, size_bytes])).toEqual([["file", 3]]);
      expect(await fs.readText(id, { path: `${home}/file` })).toBe("old");
    });

    it("shows a reader the old content or the new, while a file is written again and again", async () => {
      const { fs, id } = session;
      const path = `${await session.freshDirectory()}/file`;
      const contents = ["a", "b"].map((letter) => letter.repeat(300_000));
      await fs.writeFile(id, contents[0] ?? "", { path });
      const writing = (async () => {
        for (let round = 0; round < 20; round++) await fs.writeFile(id, contents[round % 2] ?? "", { path });
      })();
      for (let reads = 0; reads < 20; reads++) expect(contents.includes(await fs.readText(id, { path }))).toBe(true);
      await writing;
    });

    it.each(operations)("names what is wrong with a path: $name", async ({ name, field, call }) => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.writeFile(id, "1", { path: `${home}/file` });
      await fs.writeFile(id, "1", { path: "/home/shoal/Downloads/never" });
      const wrong = { "relative/path": "absolute", "": "absolute", "~/file": "absolute", "/nul\0l": "NUL", [`/${"x/".repeat(2048)}y`]: "4096", [`/${"n".repeat(256)}`]: "255" };
      for (const [path, text] of Object.entries(wrong)) {
        const refused = await refusalOf(call(fs, id, path));
        expect([name, path.slice(0, 20), refused.status]).toEqual([name, path.slice(0, 20), 400]);
        expect(refused.message).toContain(field);
        expect(refused.message).toContain(text);
      }
      const below = await refusalOf(call(fs, id, `${home}/file/below`));
      expect(below).toMatchObject({ status: 400, code: "not_a_directory", message: expect.stringContaining(`${home}/file`) as unknown });
      const missing = `${home}/missing ü\n`;
      if (!makers.has(name)) {
        const refused = await refusalOf(call(fs, id, missing));
        expect(refused).toMatchObject({ status: 404, code: "not_found", message: expect.stringContaining(missing) as unknown });
      }
    });

    it("takes paths apart as Linux does, and never leaves the top", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.writeFile(id, "1", { path: `${home}//x/./y/../file` });
      for (const path of [`${home}/x/file`, `/..${home}/x/file`, `/../../../..${home}//x///file`, `${home}/x/./././file`]) expect(await fs.readText(id, { path })).toBe("1");
      expect((await fs.fileInfo(id, { path: "/../.." })).path).toBe("/");
      expect((await fs.listFiles(id, { path: "/" })).map(({ name }) => name)).toEqual((await fs.listFiles(id, { path: "/../../.." })).map(({ name }) => name));
    });

    it("uploads whole requests or none of their files", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const files = (...paths: string[]) => ({ files: paths.map((path) => ({ dest_path: `${home}/${path}`, file: new Blob([path]) })) });
      expect(await refusalOf(fs.upload(id, files("a", "a")))).toMatchObject({ status: 400, message: expect.stringContaining("body.files[1][dest_path]") as unknown });
      expect(await refusalOf(fs.upload(id, files("a", "a/b")))).toMatchObject({ status: 400, message: expect.stringContaining("files[1]") as unknown });
      expect(await refusalOf(fs.upload(id, { files: [] }))).toMatchObject({ status: 400, message: expect.stringContaining("body.files") as unknown });
      expect(await fs.listFiles(id, { path: home })).toEqual([]);
      await fs.upload(id, files("ü/1", "ü/2", "3"));
      expect((await fs.listFiles(id, { path: `${home}/ü` })).map(({ name }) => name)).toEqual(["1", "2"]);
    });

    it("tells of a session that is not there", async () => {
      const { fs } = session;
      for (const { name, call } of operations) {
        const refused = await refusalOf(call(fs, "nosuchsession00000000000", "/home/shoal"));
        expect([name, refused.status, refused.code]).toEqual([name, 404, "not_found"]);
        expect(refused.message).toContain("nosuchsession");
      }
    });

    if (placement === "process") {
      it("takes the session's folder for /: what the host has is not there", async () => {
        const { fs, id } = session;
        expect(existsSync("/etc/passwd")).toBe(true);
        for (const path of ["/etc/hostname", "/etc/passwd", "/proc/self/environ", "/usr/bin/env", test.dataDir, "/home/shoal/../../../../../../etc/passwd"]) {
          for (const { name, call } of operations.filter((operation) => !makers.has(operation.name))) expect([name, path, (await refusalOf(call(fs, id, path))).status]).toEqual([name, path, 404]);
        }
        await fs.writeFile(id, "mine", { path: "/etc/hostname" });
        expect(await fs.readText(id, { path: "/etc/hostname" })).toBe("mine");
        expect(readFileSync("/etc/passwd", "utf8")).not.toBe("mine");
        await fs.deleteDirectory(id, { path: "/etc" });
        expect(existsSync("/etc/passwd")).toBe(true);
      });

      it("follows no link out of the session's folder", async () => {
        const { fs, id } = session;
        const home = await session.freshDirectory();
        const inside = await hostPathOf(test, id, home);
        const outside = join(test.dataDir, "outside");
        mkdirSync(join(outside, "sub"), { recursive: true });
        writeFileSync(join(outside, "secret"), "secret");
        symlinkSync(outside, join(inside, "absolute"));
        symlinkSync("../".repeat(20) + outside.slice(1), join(inside, "relative"));
        symlinkSync(join(outside, "secret"), join(inside, "file"));
        symlinkSync(join(outside, "made"), join(inside, "dangling"));
        for (const path of ["absolute/secret", "relative/secret", "absolute/sub", "absolute/new"]) {
          for (const { name, call } of operations) {
            const refused = await refusalOf(call(fs, id, `${home}/${path}`));
            expect([name, path, refused.status, refused.code]).toEqual([name, path, 403, "permission_denied"]);
            expect(refused.message).not.toContain(outside);
          }
        }
        for (const path of ["file", "dangling"]) {
          expect(await codeOf(fs.readBytes(id, { path: `${home}/${path}` }))).toBe("403 permission_denied");
          expect(await codeOf(fs.writeFile(id, "x", { path: `${home}/${path}` }))).toBe("403 permission_denied");
        }
        expect(namesIn(await bytesOf(await fs.downloadDirZip(id, { path: home })))).toEqual(["absolute", "dangling", "file", "relative"]);
        await fs.deleteDirectory(id, { path: home });
        expect(readdirSync(outside).sort()).toEqual(["secret", "sub"]);
        expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
      });
    }
  });
});
