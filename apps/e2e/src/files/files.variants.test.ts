import { eventually } from "@shoal/testkit";
import fc from "fast-check";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { placements } from "../testing/components.ts";
import { bytesOf, pathOperations } from "../testing/path-operations.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { hostPathOf } from "../testing/session-folder.ts";
import { useSession } from "../testing/session.ts";
import { linkMode, namesIn, zipOf } from "../testing/zip.ts";

const operations = Object.entries(pathOperations);

/** Any Linux file name, up to 255 bytes. */
const fileName = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
    fc.string({ unit: "binary", minLength: 100, maxLength: 255 }),
    fc.constantFrom(
      "…",
      "a b",
      "%2F",
      "%00",
      "\\..\\",
      "*?",
      "-rf",
      "~",
      "\n",
      " ",
      ".hidden",
      "\u00fc",
      "u\u0308",
      "𝒳".repeat(63),
      "n".repeat(255),
    ),
  )
  .map((name) => Buffer.from(name.replaceAll(/[/\0]/g, "_")).subarray(0, 255).toString().replace(/�$/, ""))
  .filter((name) => name !== "" && name !== "." && name !== "..");

describe.each(placements)("files in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a session", () => {
    const test = useService(() => ["--placement", placement]);
    const session = useSession(test);

    it("serves all fifteen operations", async () => {
      const { fs, id } = session;
      const startedAtMs = Date.now();
      const home = await session.freshDirectory();
      await fs.createDirectory(id, { path: `${home}/a/b/c` });
      const { watch_id } = await fs.watch.start(id, { path: home, recursive: true });
      const events = allOf(fs.watch.events(id, watch_id));
      await fs.writeFile(id, "hällo", { path: `${home}/a/file.txt` });
      expect(await fs.readText(id, { path: `${home}/a/file.txt` })).toBe("hällo");
      expect(await fs.fileInfo(id, { path: `${home}/a/file.txt` })).toMatchObject({
        name: "file.txt",
        path: `${home}/a/file.txt`,
        size_bytes: 6,
        is_dir: false,
        mode: "-rw-r--r--",
      });
      await fs.setFilePermissions(id, { path: `${home}/a/file.txt`, mode: "600" });
      await fs.move(id, { src_path: `${home}/a/file.txt`, dest_path: `${home}/a/b/moved.txt` });
      await fs.upload(id, {
        files: ["1", "2"].map((name) => ({ dest_path: `${home}/up/${name}`, file: new Blob([name]) })),
      });
      await fs.uploadZip(id, {
        dest_path: `${home}/zip`,
        zip_file: await zipOf([{ name: "deep/er.txt", content: "zipped" }]),
      });
      const listed = await fs.listFiles(id, { path: home });
      expect(listed.map(({ name, is_dir, mode }) => [name, is_dir, mode])).toEqual([
        ["a", true, "drwxr-xr-x"],
        ["up", true, "drwxr-xr-x"],
        ["zip", true, "drwxr-xr-x"],
      ]);
      // Files have the time of the last tick of the kernel.
      expect(Date.parse(listed[0]?.mod_time ?? "")).toBeGreaterThan(startedAtMs - 2_000);
      expect(Date.parse(listed[0]?.mod_time ?? "")).toBeLessThanOrEqual(Date.now());
      expect(namesIn(await bytesOf(await fs.downloadDirZip(id, { path: home })))).toEqual([
        "a/",
        "a/b/",
        "a/b/c/",
        "a/b/moved.txt",
        "up/",
        "up/1",
        "up/2",
        "zip/",
        "zip/deep/",
        "zip/deep/er.txt",
      ]);
      await fs.deleteFile(id, { path: `${home}/up/1` });
      await fs.deleteDirectory(id, { path: `${home}/a` });
      await fs.watch.stop(id, watch_id);
      const lines = (await events).map(({ type, path }) => `${type} ${path.slice(home.length)}`);
      expect(lines).toEqual(
        expect.arrayContaining([
          "CREATE /a/file.txt",
          "RENAME /a/file.txt",
          "CREATE /a/b/moved.txt",
          "CREATE /zip/deep/er.txt",
          "DELETE /up/1",
          "DELETE /a",
        ]),
      );
      expect((await fs.listFiles(id, { path: home })).map(({ name }) => name)).toEqual(["up", "zip"]);
    });

    it("accepts every name that Linux accepts", async () => {
      const { fs, id } = session;
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(fileName, { minLength: 1, maxLength: 8 }), async (names) => {
          const home = await session.freshDirectory();
          for (const name of names) await fs.writeFile(id, name, { path: `${home}/from/${name}` });
          expect((await fs.listFiles(id, { path: `${home}/from` })).map(({ name }) => name)).toEqual(
            [...names].sort((a, b) => (a < b ? -1 : 1)),
          );
          for (const name of names) {
            await fs
              .move(id, { src_path: `${home}/from/${name}`, dest_path: `${home}/to/${name}` })
              .catch(async (error: unknown) => {
                // The first name: a move does not make its new directory.
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
        { numRuns: 8 },
      );
    });

    it("protects the root, the home directory and its parents, by any path", async () => {
      const { fs, id } = session;
      await fs.uploadZip(id, {
        dest_path: "/",
        zip_file: await zipOf([{ name: "alias", content: "home", mode: linkMode }]),
      });
      const paths = [
        "/home/shoal",
        "/alias/shoal",
        ...(placement === "sandbox" ? ["/usr", "/etc", "/proc", "/dev", "/run", "/run/shoal", "/var"] : []),
      ];
      for (const path of paths) {
        expect([path, await codeOf(fs.deleteDirectory(id, { path }))]).toEqual([path, "403 protected_path"]);
        expect([path, await codeOf(fs.deleteDirectory(id, { path }, { missing_ok: true }))]).toEqual([
          path,
          "403 protected_path",
        ]);
        expect([path, await codeOf(fs.move(id, { src_path: path, dest_path: "/tmp/elsewhere" }))]).toEqual([
          path,
          "403 protected_path",
        ]);
      }
      expect((await fs.fileInfo(id, { path: "/home/shoal" })).is_dir).toBe(true);
      await fs.deleteFile(id, { path: "/alias" });
    });

    it("keeps the old content when a write is aborted, and removes a partial new file", async () => {
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
        await eventually("the content arrives", () => readdirSync(onHost).some((name) => name.endsWith(".part")));
        expect(await fs.readText(id, { path: `${home}/file` })).toBe("old");
        abort.abort(new Error("changed my mind"));
        await expect(writing).rejects.toThrow("changed my mind");
        await eventually(
          "the incomplete upload is removed",
          () => !readdirSync(onHost).some((name) => name.endsWith(".part")),
        );
      }
      expect((await fs.listFiles(id, { path: home })).map(({ name, size_bytes }) => [name, size_bytes])).toEqual([
        ["file", 3],
      ]);
      expect(await fs.readText(id, { path: `${home}/file` })).toBe("old");
    });

    it("shows readers the old or the new content while a file is rewritten", async () => {
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

    it("resolves paths like Linux, and never above the root", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.writeFile(id, "1", { path: `${home}//x/./y/../file` });
      for (const path of [
        `${home}/x/file`,
        `/..${home}/x/file`,
        `/../../../..${home}//x///file`,
        `${home}/x/./././file`,
      ])
        expect(await fs.readText(id, { path })).toBe("1");
      expect((await fs.fileInfo(id, { path: "/../.." })).path).toBe("/");
      expect((await fs.listFiles(id, { path: "/" })).map(({ name }) => name)).toEqual(
        (await fs.listFiles(id, { path: "/../../.." })).map(({ name }) => name),
      );
    });

    it("reports a missing session", async () => {
      const { fs } = session;
      for (const [name, { call }] of operations) {
        const refused = await refusalOf(call(fs, "nosuchsession00000000000", "/home/shoal"));
        expect([name, refused.status, refused.code]).toEqual([name, 404, "not_found"]);
        expect(refused.message).toContain("nosuchsession");
      }
    });

    if (placement === "process") {
      it("resolves / to the session's folder, not the host's root", async () => {
        const { fs, id } = session;
        expect(existsSync("/etc/passwd")).toBe(true);
        for (const path of [
          "/etc/hostname",
          "/etc/passwd",
          "/proc/self/environ",
          "/usr/bin/env",
          test.dataDir,
          "/home/shoal/../../../../../../etc/passwd",
        ]) {
          for (const [name, { call }] of operations.filter(([, { makes }]) => makes === undefined))
            expect([name, path, (await refusalOf(call(fs, id, path))).status]).toEqual([name, path, 404]);
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
          for (const [name, { call }] of operations) {
            const refused = await refusalOf(call(fs, id, `${home}/${path}`));
            expect([name, path, refused.status, refused.code]).toEqual([name, path, 403, "permission_denied"]);
            expect(refused.message).not.toContain(outside);
          }
        }
        for (const path of ["file", "dangling"]) {
          expect(await codeOf(fs.readBytes(id, { path: `${home}/${path}` }))).toBe("403 permission_denied");
          expect(await codeOf(fs.writeFile(id, "x", { path: `${home}/${path}` }))).toBe("403 permission_denied");
        }
        expect(namesIn(await bytesOf(await fs.downloadDirZip(id, { path: home })))).toEqual([
          "absolute",
          "dangling",
          "file",
          "relative",
        ]);
        await fs.deleteDirectory(id, { path: home });
        expect(readdirSync(outside).sort()).toEqual(["secret", "sub"]);
        expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
      });
    }
  });
});
