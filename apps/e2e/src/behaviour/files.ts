import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { bytesOf, pathOperations } from "../testing/path-operations.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { linkMode, namesIn, renameEntry, zipOf } from "../testing/zip.ts";
import type { ServiceUnderTest } from "./open-service.ts";
import { useSessionOf } from "./session-under-test.ts";

const blob = (text: string) => new Blob([text]);

export function describeFiles(test: ServiceUnderTest): void {
  describe("files", () => {
    const session = useSessionOf(test);

    it("are written, read, described, moved and deleted", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.writeFile(id, "hällo", { path: `${home}/new/dir/a.txt` });
      expect(await fs.readText(id, { path: `${home}/new/dir/a.txt` })).toBe("hällo");
      expect(await fs.fileInfo(id, { path: `${home}/new/dir/a.txt` })).toEqual({
        name: "a.txt",
        path: `${home}/new/dir/a.txt`,
        size_bytes: 6,
        is_dir: false,
        mode: "-rw-r--r--",
        mod_time: expect.stringMatching(/Z$/) as unknown,
      });
      expect(await fs.fileInfo(id, { path: `${home}/new` })).toMatchObject({
        name: "new",
        size_bytes: 0,
        is_dir: true,
        mode: "drwxr-xr-x",
      });
      await fs.move(id, { src_path: `${home}/new/dir/a.txt`, dest_path: `${home}/b` });
      expect((await fs.listFiles(id, { path: home })).map(({ name, path }) => [name, path])).toEqual([
        ["b", `${home}/b`],
        ["new", `${home}/new`],
      ]);
      await fs.deleteFile(id, { path: `${home}/b` });
      await fs.deleteDirectory(id, { path: `${home}/new` });
      expect(await fs.listFiles(id, { path: home })).toEqual([]);
    });

    it("may contain any bytes, from none to many", async () => {
      const { fs, id } = session;
      const path = `${await session.freshDirectory()}/ü \n%2F`;
      for (const content of [new Uint8Array(), new Uint8Array(randomBytes(3_000_000))]) {
        await fs.writeFile(id, content, { path });
        const download = await fs.readFile(id, { path });
        expect(Buffer.compare(await bytesOf(download), content)).toBe(0);
      }
      const { headers } = await test.send("HEAD", `/browsers/${id}/fs/read_file?path=${encodeURIComponent(path)}`);
      expect([headers.get("content-length"), headers.get("content-type")]).toEqual([
        "3000000",
        "application/octet-stream",
      ]);
      expect(headers.get("content-disposition")).toContain("filename*=UTF-8''%C3%BC%20");
    });

    it("are listed one level at a time, sorted", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      for (const name of ["b/deep", "a", "C", "ä", "10", "9"])
        await fs.writeFile(id, name, { path: `${home}/${name}` });
      expect((await fs.listFiles(id, { path: home })).map(({ name }) => name)).toEqual(["10", "9", "C", "a", "b", "ä"]);
      const top = (await fs.listFiles(id, { path: "/" })).map(({ path }) => path);
      expect(top).toEqual(expect.arrayContaining(["/home", "/tmp"]));
      expect((await fs.listFiles(id, { path: "/home/shoal" })).map(({ name }) => name)).toContain("Downloads");
    });

    it.each([
      ["600", "-rw-------"],
      ["0755", "-rwxr-xr-x"],
      ["4711", "-rws--x--x"],
      ["1777", "-rwxrwxrwt"],
      ["000", "----------"],
    ])("have the mode %s", async (mode, text) => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const path = `${home}/file`;
      await fs.writeFile(id, "1", { path, mode });
      expect((await fs.fileInfo(id, { path })).mode).toBe(text);
      await fs.setFilePermissions(id, { path, mode: "640" });
      await fs.writeFile(id, "2", { path });
      expect((await fs.fileInfo(id, { path })).mode).toBe("-rw-r-----");
      await fs.createDirectory(id, { path: `${home}/up/dir`, mode });
      expect((await fs.listFiles(id, { path: `${home}/up` })).map((info) => info.mode)).toEqual([`d${text.slice(1)}`]);
      expect((await fs.fileInfo(id, { path: `${home}/up` })).mode).toBe("drwxr-xr-x");
      await fs.createDirectory(id, { path: `${home}/up` });
    });

    it("respect their mode", async () => {
      const { fs, id } = session;
      const path = `${await session.freshDirectory()}/file`;
      await fs.writeFile(id, "1", { path, mode: "000" });
      if (test.enforcesPermissions) {
        expect(await codeOf(fs.readBytes(id, { path }))).toBe("403 permission_denied");
        expect(await codeOf(fs.writeFile(id, "2", { path }))).toBe("403 permission_denied");
        expect(await codeOf(fs.setFilePermissions(id, { path, mode: "600", owner: "0" }))).toBe(
          "403 permission_denied",
        );
      }
      await fs.setFilePermissions(id, { path, mode: "600" });
      expect(await fs.readText(id, { path })).toBe("1");
      expect(
        await refusalOf(fs.setFilePermissions(id, { path, mode: "600", owner: "nobody-of-that-name" })),
      ).toMatchObject({
        status: 400,
        message: expect.stringContaining("body.owner") as unknown,
      });
      for (const mode of ["8", "99", "rwx", "", "77777", "-1"])
        expect((await refusalOf(fs.setFilePermissions(id, { path, mode }))).status).toBe(400);
    });

    it.each(Object.entries(pathOperations))(
      "are named in errors about a path: %s",
      async (name, { call, field, makes }) => {
        const { fs, id } = session;
        const home = await session.freshDirectory();
        await fs.writeFile(id, "1", { path: `${home}/file` });
        const wrong = {
          "relative/path": "absolute",
          "": "absolute",
          "~/file": "absolute",
          "/nul\0l": "NUL",
          [`/${"x/".repeat(2048)}y`]: "4096",
          [`/${"n".repeat(256)}`]: "255",
        };
        for (const [path, text] of Object.entries(wrong)) {
          const refused = await refusalOf(call(fs, id, path));
          expect([name, path.slice(0, 20), refused.status, refused.code]).toEqual([
            name,
            path.slice(0, 20),
            400,
            "bad_request",
          ]);
          expect(refused.message).toContain(field);
          expect(refused.message).toContain(text);
        }
        expect(await refusalOf(call(fs, id, `${home}/file/below`))).toMatchObject({
          status: 400,
          code: "not_a_directory",
          message: expect.stringContaining(`${home}/file`) as unknown,
        });
        const missing = `${home}/missing ü\n`;
        if (makes === undefined)
          expect(await refusalOf(call(fs, id, missing))).toMatchObject({
            status: 404,
            code: "not_found",
            message: expect.stringContaining(missing) as unknown,
          });
      },
    );

    it("are distinguished from directories in errors", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.writeFile(id, "1", { path: `${home}/file` });
      await fs.createDirectory(id, { path: `${home}/dir/sub` });
      const empty = await zipOf([]);
      const answers: readonly (readonly [code: string, call: () => Promise<unknown>])[] = [
        ["400 not_a_file", () => fs.readBytes(id, { path: `${home}/dir` })],
        ["400 not_a_file", () => fs.writeFile(id, "x", { path: `${home}/dir` })],
        ["400 not_a_file", () => fs.deleteFile(id, { path: `${home}/dir` })],
        ["400 not_a_file", () => fs.upload(id, { files: [{ dest_path: `${home}/dir`, file: blob("x") }] })],
        ["400 not_a_directory", () => fs.listFiles(id, { path: `${home}/file` })],
        ["400 not_a_directory", () => fs.createDirectory(id, { path: `${home}/file` })],
        ["400 not_a_directory", () => fs.deleteDirectory(id, { path: `${home}/file` }, { missing_ok: true })],
        ["400 not_a_directory", () => fs.downloadDirZip(id, { path: `${home}/file` })],
        ["400 not_a_directory", () => fs.watch.start(id, { path: `${home}/file` })],
        ["400 not_a_directory", () => fs.uploadZip(id, { dest_path: `${home}/file`, zip_file: empty })],
        ["409 conflict", () => fs.move(id, { src_path: `${home}/file`, dest_path: `${home}/dir` })],
        ["409 conflict", () => fs.move(id, { src_path: `${home}/dir`, dest_path: `${home}/file` })],
        ["400 bad_request", () => fs.move(id, { src_path: `${home}/dir`, dest_path: `${home}/dir/sub/in` })],
        ["404 not_found", () => fs.move(id, { src_path: `${home}/file`, dest_path: `${home}/no/such/place` })],
        ["404 not_found", () => fs.deleteDirectory(id, { path: `${home}/missing` })],
      ];
      for (const [code, call] of answers)
        expect(`${String(call)}: ${await codeOf(call())}`).toBe(`${String(call)}: ${code}`);
      await fs.deleteDirectory(id, { path: `${home}/missing/deep` }, { missing_ok: true });
      await fs.writeFile(id, "2", { path: `${home}/other` });
      await fs.move(id, { src_path: `${home}/other`, dest_path: `${home}/file` });
      expect(await fs.readText(id, { path: `${home}/file` })).toBe("2");
      await fs.move(id, { src_path: `${home}/file`, dest_path: `${home}/file` });
    });

    it("cannot remove the directories of the session", async () => {
      const { fs, id } = session;
      for (const path of ["/", "/home", "/home/shoal", "//home//shoal/", "/home/shoal/x/..", "/../.."]) {
        expect([path, await codeOf(fs.deleteDirectory(id, { path }))]).toEqual([path, "403 protected_path"]);
        expect([path, await codeOf(fs.move(id, { src_path: path, dest_path: "/tmp/elsewhere" }))]).toEqual([
          path,
          "403 protected_path",
        ]);
        expect([path, await codeOf(fs.setFilePermissions(id, { path, mode: "230" }))]).toEqual([
          path,
          "403 protected_path",
        ]);
      }
    });

    it("are uploaded together or not at all", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const files = (...paths: string[]) => ({
        files: paths.map((path) => ({ dest_path: `${home}/${path}`, file: blob(path) })),
      });
      expect(await refusalOf(fs.upload(id, files("a", "a")))).toMatchObject({
        status: 400,
        message: expect.stringContaining("body.files[1][dest_path]") as unknown,
      });
      expect(await refusalOf(fs.upload(id, files("a", "a/b")))).toMatchObject({
        status: 400,
        message: expect.stringContaining("files[1]") as unknown,
      });
      expect(await refusalOf(fs.upload(id, { files: [] }))).toMatchObject({
        status: 400,
        message: expect.stringContaining("body.files") as unknown,
      });
      expect(await fs.listFiles(id, { path: home })).toEqual([]);
      await fs.upload(id, files("ü/1", "ü/2", "3"));
      expect((await fs.listFiles(id, { path: `${home}/ü` })).map(({ name }) => name)).toEqual(["1", "2"]);
      expect(await fs.readText(id, { path: `${home}/3` })).toBe("3");
    });

    it.each([
      ["no part", [], "body.files"],
      [
        "an unknown part",
        [
          ["files[0][dest_path]", "/tmp/a"],
          ["files[0][file]", blob("x")],
          ["colour", "red"],
        ],
        "body.colour",
      ],
      ["an unknown field of a file", [["files[0].mode", "600"]], "body.files[0].mode"],
      ["a path without a file", [["files[0][dest_path]", "/tmp/a"]], "body.files[0][file]"],
      ["a file without a path", [["files[0][file]", blob("x")]], "body.files[0][dest_path]"],
      [
        "a path twice",
        [
          ["files[0][dest_path]", "/tmp/a"],
          ["files[0][dest_path]", "/tmp/b"],
        ],
        "body.files[0][dest_path]",
      ],
      ["a file as text", [["files[0][file]", "x"]], "body.files[0][file]"],
      ["a path as a file", [["files[0][dest_path]", blob("/tmp/a")]], "body.files[0][dest_path]"],
    ] as const)("are refused with %s", async (_, parts, field) => {
      const form = new FormData();
      for (const [name, value] of parts) {
        if (typeof value === "string") form.append(name, value);
        else form.append(name, value, "file");
      }
      const answer = await test.fetch(`${test.baseUrl}/browsers/${session.id}/fs/upload`, {
        method: "POST",
        headers: { authorization: `Bearer ${test.apiKey}` },
        body: form,
      });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({ code: "bad_request", message: expect.stringContaining(field) as unknown }),
      ]);
    });

    it.each([
      ["files[0][dest_path]", "files[0][file]"],
      ["files[][dest_path]", "files[][file]"],
      ["files[0].dest_path", "files[0].file"],
      ["files.0.dest_path", "files.0.file"],
      ["files.dest_path", "files.file"],
      ["files[dest_path]", "files[file]"],
      ["dest_path", "file"],
    ])("are written with the parts %s and %s", async (pathName, fileName) => {
      const home = await session.freshDirectory();
      const form = new FormData();
      form.append(fileName, blob("hello"), "note.txt");
      form.append(pathName, `${home}/note.txt`);
      const answer = await test.fetch(`${test.baseUrl}/browsers/${session.id}/fs/upload`, {
        method: "POST",
        headers: { authorization: `Bearer ${test.apiKey}` },
        body: form,
      });
      expect([answer.status, await answer.text()]).toEqual([201, ""]);
      expect(await session.fs.readText(session.id, { path: `${home}/note.txt` })).toBe("hello");
    });

    it("are unchanged after packing and unpacking", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const content = [
        { name: "plain", content: "1" },
        { name: "run.sh", content: "#!/bin/sh", mode: 0o100755 },
        { name: "empty/", content: "", mode: 0o040750 },
        { name: "a/b/ü 𝒳.txt", content: "ü".repeat(100_000) },
        { name: "a/link", content: "b/ü 𝒳.txt", mode: linkMode },
      ];
      await fs.uploadZip(id, { dest_path: `${home}/from`, zip_file: await zipOf(content) });
      const archive = await bytesOf(await fs.downloadDirZip(id, { path: `${home}/from` }));
      expect(namesIn(archive)).toEqual(["a/", "a/b/", "a/b/ü 𝒳.txt", "a/link", "empty/", "plain", "run.sh"]);
      await fs.uploadZip(id, { dest_path: `${home}/to`, zip_file: archive });
      for (const path of ["", "/a", "/a/b"]) {
        const [from, to] = await Promise.all(
          ["from", "to"].map(async (side) =>
            (await fs.listFiles(id, { path: `${home}/${side}${path}` })).map(({ name, mode, size_bytes }) => ({
              name,
              mode,
              size_bytes,
            })),
          ),
        );
        expect(to).toEqual(from);
      }
      expect(await fs.readText(id, { path: `${home}/to/a/link` })).toBe("ü".repeat(100_000));
      expect((await fs.fileInfo(id, { path: `${home}/to/run.sh` })).mode).toBe("-rwxr-xr-x");
      await fs.uploadZip(id, {
        dest_path: `${home}/to`,
        zip_file: await zipOf([
          { name: "plain", content: "2" },
          { name: "a/more", content: "3" },
        ]),
      });
      expect(await fs.readText(id, { path: `${home}/to/plain` })).toBe("2");
      expect((await fs.listFiles(id, { path: `${home}/to/a` })).map(({ name }) => name)).toEqual(["b", "link", "more"]);
      expect(
        await codeOf(
          fs.uploadZip(id, { dest_path: `${home}/to`, zip_file: await zipOf([{ name: "plain/x", content: "" }]) }),
        ),
      ).toBe("400 not_a_directory");
      expect(
        await codeOf(
          fs.uploadZip(id, { dest_path: `${home}/to`, zip_file: await zipOf([{ name: "a", content: "" }]) }),
        ),
      ).toBe("400 not_a_file");
    });

    it("are refused in archives that reach out of their directory", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const innocent = { name: "innocent", content: "1" };
      const hostile = {
        "a name with ..": renameEntry(await zipOf([innocent, { name: "up/file", content: "x" }]), "up/file", "../file"),
        "an absolute name": renameEntry(
          await zipOf([innocent, { name: "_tmp/file", content: "x" }]),
          "_tmp/file",
          "/tmp/file",
        ),
        "a backslash": renameEntry(await zipOf([innocent, { name: "up_file", content: "x" }]), "up_file", "up\\file"),
        "an absolute link": await zipOf([innocent, { name: "link", content: "/etc", mode: linkMode }]),
        "a link that climbs out": await zipOf([innocent, { name: "link", content: "../../etc", mode: linkMode }]),
        "a file below a link": await zipOf([
          innocent,
          { name: "link", content: "sub", mode: linkMode },
          { name: "link/file", content: "x" },
        ]),
        "a name twice": await zipOf([innocent, innocent]),
        "a device": await zipOf([innocent, { name: "device", content: "", mode: 0o020644 }]),
        "a bomb": await zipOf([innocent, { name: "zeros", content: "\0".repeat(80 * 1024 * 1024) }]),
      };
      for (const [what, zip_file] of Object.entries(hostile))
        expect([what, await codeOf(fs.uploadZip(id, { dest_path: `${home}/unpacked`, zip_file }))]).toEqual([
          what,
          "400 unsafe_archive",
        ]);
      expect(await codeOf(fs.uploadZip(id, { dest_path: `${home}/unpacked`, zip_file: "no archive" }))).toBe(
        "400 bad_request",
      );
      expect(await fs.listFiles(id, { path: home })).toEqual([]);
    });

    it("are reached through links, which are separate objects", async () => {
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
      expect(await fs.fileInfo(id, { path: `${home}/to-dir` })).toMatchObject({
        is_dir: false,
        mode: "lrwxrwxrwx",
        size_bytes: 4,
      });
      await fs.writeFile(id, "new", { path: `${home}/to-file` });
      expect((await fs.fileInfo(id, { path: `${home}/to-file` })).mode).toBe("lrwxrwxrwx");
      expect(await fs.readText(id, { path: `${home}/real/file` })).toBe("new");
      await fs.writeFile(id, "made", { path: `${home}/dangling` });
      expect(await fs.readText(id, { path: `${home}/real/not-yet` })).toBe("made");
      expect((await fs.listFiles(id, { path: `${home}/to-dir` })).map(({ path }) => path)).toEqual([
        `${home}/to-dir/file`,
        `${home}/to-dir/not-yet`,
      ]);
      expect(namesIn(await bytesOf(await fs.downloadDirZip(id, { path: `${home}/to-dir` })))).toEqual([
        "file",
        "not-yet",
      ]);
      expect(await codeOf(fs.readBytes(id, { path: `${home}/circle` }))).toBe("400 bad_request");
      expect(await codeOf(fs.deleteDirectory(id, { path: `${home}/to-dir` }))).toBe("400 not_a_directory");
      await fs.createDirectory(id, { path: `${home}/to-dir/sub/deep` });
      await fs.deleteDirectory(id, { path: `${home}/to-dir/sub` });
      await fs.move(id, { src_path: `${home}/to-file`, dest_path: `${home}/moved-link` });
      for (const link of ["moved-link", "to-dir", "dangling", "circle"])
        await fs.deleteFile(id, { path: `${home}/${link}` });
      expect((await fs.listFiles(id, { path: home })).map(({ name }) => name)).toEqual(["real"]);
    });
  });
}
