import { eventuallyPasses } from "@shoal/testkit";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseMountInfo } from "./protected.ts";
import { asPlainUser, namesIn, rootKinds, serveFileSystem } from "./testing/serve.ts";

interface Info {
  readonly name: string;
  readonly path: string;
  readonly mode: string;
  readonly is_dir: boolean;
  readonly is_escaped?: boolean;
}

describe.each(rootKinds)("directories below %s", (kind) => {
  it("lists one level, sorted, links as links", async () => {
    await using fs = await serveFileSystem(kind);
    for (const name of ["b", "a", "B", "é"]) await writeFile(fs.host(name), name);
    await mkdir(fs.host("dir/inner"), { recursive: true });
    await symlink("dir", fs.host("link"));
    const list = JSON.parse((await fs.call("list_files", { query: { path: fs.at("") } })).text) as Info[];
    expect(list.map(({ name }) => name)).toEqual(["B", "a", "b", "dir", "link", "é"]);
    expect(list.find(({ name }) => name === "link")).toMatchObject({
      path: fs.at("link"),
      is_dir: false,
      mode: "lrwxrwxrwx",
    });
    const through = JSON.parse((await fs.call("list_files", { query: { path: `${fs.at("link")}/` } })).text) as Info[];
    expect(through.map(({ path }) => path)).toEqual([fs.at("link/inner")]);
    expect(await fs.call("list_files", { query: { path: fs.at("a") } })).toMatchObject({
      status: 400,
      code: "not_a_directory",
    });
    expect(await fs.call("list_files", { query: { path: fs.at("none") } })).toMatchObject({ status: 404 });
  });

  it("lists 1,000 entries, and names that are not valid UTF-8", async () => {
    await using fs = await serveFileSystem(kind);
    execFileSync("sh", ["-c", "seq 1000 | xargs touch; touch \"$(printf 'bad\\377name')\""], { cwd: fs.directory });
    const list = JSON.parse((await fs.call("list_files", { query: { path: fs.at("") } })).text) as Info[];
    expect(list).toHaveLength(1_001);
    expect(list.filter(({ is_escaped }) => is_escaped)).toMatchObject([
      { name: "bad\\xffname", path: fs.at("bad\\xffname") },
    ]);
  });

  it("creates a directory and its parents regardless of the umask, and keeps an existing directory", async () => {
    await using fs = await serveFileSystem(kind);
    expect(await fs.call("create_directory", { json: { path: fs.at("a/b/c"), mode: "0770" } })).toMatchObject({
      status: 201,
      text: "",
    });
    expect((await stat(fs.host("a/b/c"))).mode & 0o7777).toBe(0o770);
    expect((await stat(fs.host("a/b"))).mode & 0o7777).toBe(0o755);
    expect(await fs.call("create_directory", { json: { path: fs.at("a/b/c") } })).toMatchObject({ status: 201 });
    expect((await stat(fs.host("a/b/c"))).mode & 0o7777).toBe(0o770);
    await writeFile(fs.host("file"), "");
    for (const path of ["file", "file/below"])
      expect(await fs.call("create_directory", { json: { path: fs.at(path) } })).toMatchObject({
        status: 400,
        code: "not_a_directory",
      });
  });

  it("deletes files and links, not directories", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("dir"));
    await writeFile(fs.host("dir/kept"), "");
    await symlink("dir", fs.host("link"));
    await writeFile(fs.host("file"), "");
    expect(await fs.call("delete_file", { json: { path: fs.at("dir") } })).toMatchObject({
      status: 400,
      code: "not_a_file",
    });
    for (const name of ["link", "file"])
      expect(await fs.call("delete_file", { json: { path: fs.at(name) } })).toMatchObject({ status: 200 });
    expect(await fs.call("delete_file", { json: { path: fs.at("file") } })).toMatchObject({
      status: 404,
      code: "not_found",
    });
    expect(await namesIn(fs.directory)).toEqual(["dir", "dir/kept"]);
  });

  it("deletes a full tree, but not the targets of links", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("kept"));
    await writeFile(fs.host("kept/file"), "");
    execFileSync(
      "sh",
      [
        "-c",
        "mkdir -p tree/a/b/c && ln -s ../kept tree/link && touch \"$(printf 'tree/bad\\377')\" && chmod 555 tree/a/b && for i in $(seq 20); do mkdir tree/a/$i; (cd tree/a/$i; seq 20 | xargs touch); done",
      ],
      { cwd: fs.directory },
    );
    expect(await fs.call("delete_directory", { json: { path: fs.at("tree") } })).toMatchObject({
      status: 200,
      text: "",
    });
    expect(await namesIn(fs.directory)).toEqual(["kept", "kept/file"]);
  });

  it("distinguishes a missing directory, a file and a link from a directory", async () => {
    await using fs = await serveFileSystem(kind);
    await writeFile(fs.host("file"), "");
    await mkdir(fs.host("dir/inner"), { recursive: true });
    await symlink("dir", fs.host("link"));
    const remove = (name: string, query = {}) => fs.call("delete_directory", { json: { path: fs.at(name) }, query });
    expect(await remove("none")).toMatchObject({ status: 404, code: "not_found" });
    expect(await remove("none/none")).toMatchObject({ status: 404, code: "not_found" });
    expect(await remove("none", { missing_ok: "true" })).toMatchObject({ status: 200 });
    expect(await remove("file")).toMatchObject({ status: 400, code: "not_a_directory" });
    expect(await remove("file/x")).toMatchObject({ status: 400, code: "not_a_directory" });
    const link = await remove("link");
    expect(link).toMatchObject({ status: 400, code: "not_a_directory" });
    expect(link.message).toContain("browsers.fs.deleteFile");
    expect(await remove("link/inner")).toMatchObject({ status: 200 });
    expect(await namesIn(fs.directory)).toEqual(["dir", "file", "link"]);
  });

  it("protects the root, the home directory and its parents, by every path", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("home/shoal/dir"), { recursive: true });
    await symlink(".", fs.host("here"));
    for (const name of ["home/shoal", "home", "", "here/home", "here/here/home/shoal", "x/../home"]) {
      expect(await fs.call("delete_directory", { json: { path: fs.at(name) } })).toMatchObject({
        status: 403,
        code: "protected_path",
      });
      if (name !== "")
        expect(await fs.call("move", { json: { src_path: fs.at(name), dest_path: fs.at("elsewhere") } })).toMatchObject(
          {
            status: 403,
            code: "protected_path",
          },
        );
    }
    expect(await fs.call("delete_directory", { json: { path: "/" } })).toMatchObject({
      status: 403,
      code: "protected_path",
    });
    expect(await fs.call("delete_directory", { json: { path: "/../.." } })).toMatchObject({
      status: 403,
      code: "protected_path",
    });
    expect(await fs.call("delete_directory", { json: { path: fs.at("home/shoal/dir") } })).toMatchObject({
      status: 200,
    });
    expect(await namesIn(fs.directory)).toEqual(["here", "home", "home/shoal"]);
  });

  it("fails for a directory that programs keep writing to, and names remaining entries", async () => {
    await using fs = await serveFileSystem(kind, { busyMs: 300 });
    await mkdir(fs.host("busy"));
    const writing = `const fs = require("node:fs"); for (let i = 0; ; i++) try { fs.mkdirSync("busy/sub-" + i % 20, { recursive: true }); fs.writeFileSync("busy/sub-" + i % 20 + "/" + i % 300, ""); } catch {}`;
    const writers = [1, 2].map(() => spawn(process.execPath, ["-e", writing], { cwd: fs.directory, stdio: "ignore" }));
    try {
      let answer;
      do {
        await eventuallyPasses(() => {
          expect(existsSync(fs.host("busy/sub-19"))).toBe(true);
        });
        answer = await fs.call("delete_directory", { json: { path: fs.at("busy") } });
        // Sometimes the directory is gone for a moment, and the deletion succeeds.
      } while (answer.status === 200);
      expect(answer).toMatchObject({ status: 409, code: "directory_busy" });
      expect(answer.message).toContain(fs.at("busy/sub-"));
    } finally {
      await Promise.all(
        writers.map((writer) => {
          const exited = once(writer, "exit");
          writer.kill("SIGKILL");
          return exited;
        }),
      );
    }
    expect(
      await fs.call("delete_directory", { json: { path: fs.at("busy") }, query: { missing_ok: "true" } }),
    ).toMatchObject({ status: 200 });
    expect(await namesIn(fs.directory)).toEqual([]);
  });

  it("moves files, links and directories", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("dir/inner"), { recursive: true });
    await writeFile(fs.host("dir/file"), "1");
    await writeFile(fs.host("old"), "2");
    await symlink("nowhere", fs.host("link"));
    const move = (from: string, to: string) =>
      fs.call("move", { json: { src_path: fs.at(from), dest_path: fs.at(to) } });
    expect(await move("dir", "moved")).toMatchObject({ status: 200, text: "" });
    expect(await move("moved/file", "old")).toMatchObject({ status: 200 });
    expect(await readFile(fs.host("old"), "utf8")).toBe("1");
    expect(await move("link", "moved/link")).toMatchObject({ status: 200 });
    expect((await lstat(fs.host("moved/link"))).isSymbolicLink()).toBe(true);
    expect(await move("moved", "moved")).toMatchObject({ status: 200 });
    expect(await move("moved", "moved/inner/x")).toMatchObject({ status: 400, code: "bad_request" });
    expect(await move("old", "moved")).toMatchObject({ status: 409, code: "conflict" });
    expect(await move("moved", "old")).toMatchObject({ status: 409, code: "conflict" });
    expect(await move("none", "x")).toMatchObject({ status: 404, code: "not_found" });
    const orphan = await move("old", "none/below");
    expect(orphan).toMatchObject({ status: 404, code: "not_found" });
    expect(orphan.message).toContain(fs.at("none"));
    expect(await move("old", "old/below")).toMatchObject({ status: 400, code: "not_a_directory" });
    expect(await namesIn(fs.directory)).toEqual(["moved", "moved/inner", "moved/link", "old"]);
  });

  it("moves one hard link over another", async () => {
    await using fs = await serveFileSystem(kind);
    execFileSync("sh", ["-c", "echo 1 > a; ln a b"], { cwd: fs.directory });
    expect(await fs.call("move", { json: { src_path: fs.at("a"), dest_path: fs.at("b") } })).toMatchObject({
      status: 200,
    });
    expect(await namesIn(fs.directory)).toEqual(["b"]);
  });

  it("sets permissions, and owners that the system permits", async () => {
    await using fs = await serveFileSystem(kind);
    await writeFile(fs.host("file"), "");
    const { gid, uid } = await stat(fs.host("file"));
    const set = (json: Record<string, string>) =>
      fs.call("set_file_permissions", { json: { path: fs.at("file"), mode: "0640", ...json } });
    expect(await set({ mode: "4750" })).toMatchObject({ status: 200, text: "" });
    expect((await stat(fs.host("file"))).mode & 0o7777).toBe(0o4750);
    expect(await set({ owner: String(uid), group: String(gid) })).toMatchObject({ status: 200 });
    const unknown = await set({ mode: "600", owner: "no-such-user" });
    expect(unknown).toMatchObject({ status: 400, code: "bad_request" });
    expect(unknown.message).toContain("no-such-user");
    expect(await set({ mode: "600", group: "no-such-group" })).toMatchObject({ status: 400 });
    expect(await set({ owner: "4294967295" })).toMatchObject({ status: 400 });
    expect((await stat(fs.host("file"))).mode & 0o7777).toBe(0o640);
    expect(await fs.call("set_file_permissions", { json: { path: fs.at("none"), mode: "644" } })).toMatchObject({
      status: 404,
    });
    const name = execFileSync("id", ["-un", String(uid)], { encoding: "utf8" }).trim();
    expect(await set({ owner: name })).toMatchObject({ status: 200 });
    const given = await set({ owner: "1" });
    expect(given).toMatchObject(
      process.geteuid?.() === 0 ? { status: 200 } : { status: 403, code: "permission_denied" },
    );
  });
});

it("rejects mounts, and directories that contain a mount", async () => {
  await using fs = await serveFileSystem("/");
  const mounts = parseMountInfo(await readFile("/proc/self/mountinfo", "utf8"));
  expect(mounts).toContain("/");
  expect(mounts).toContain("/proc");
  for (const path of ["/proc", "/dev"])
    expect(await fs.call("delete_directory", { json: { path } })).toMatchObject({
      status: 403,
      code: "protected_path",
    });
  expect(parseMountInfo("36 35 98:0 / /a\\040b\\134 rw - ext4 x rw\n")).toEqual(["/a b\\"]);
});

it.skipIf(!existsSync("/dev/shm") && process.env.SHOAL_REQUIRE_ALL !== "1")(
  "moves between filesystems (needs /dev/shm)",
  async () => {
    await using fs = await serveFileSystem("/");
    const other = execFileSync("mktemp", ["-d", "/dev/shm/shoal-XXXXXX"], { encoding: "utf8" }).trim();
    try {
      expect((await stat(other)).dev).not.toBe((await stat(fs.directory)).dev);
      execFileSync(
        "sh",
        [
          "-c",
          "mkdir -p dir/empty; echo 1 > dir/file; chmod 4751 dir/file; ln -s ../x dir/link; mkfifo pipes; mkdir withpipe; mkfifo withpipe/p",
        ],
        { cwd: fs.directory },
      );
      expect(await fs.call("move", { json: { src_path: fs.at("dir"), dest_path: join(other, "dir") } })).toMatchObject({
        status: 200,
      });
      expect(await namesIn(other)).toEqual(["dir", "dir/empty", "dir/file", "dir/link"]);
      expect(existsSync(fs.host("dir"))).toBe(false);
      expect((await lstat(join(other, "dir/link"))).isSymbolicLink()).toBe(true);
      await writeFile(fs.host("file"), "over");
      expect(
        await fs.call("move", { json: { src_path: fs.at("file"), dest_path: join(other, "dir/file") } }),
      ).toMatchObject({ status: 200 });
      expect(await readFile(join(other, "dir/file"), "utf8")).toBe("over");
      expect(
        await fs.call("move", { json: { src_path: fs.at("withpipe"), dest_path: join(other, "withpipe") } }),
      ).toMatchObject({
        status: 400,
        code: "not_a_file",
      });
      expect(await readdir(other)).toEqual(["dir"]);
      expect(await namesIn(fs.host("withpipe"))).toEqual(["p"]);
    } finally {
      execFileSync("rm", ["-rf", other]);
    }
  },
);

it("reports changes that the system does not permit", async () => {
  await asPlainUser(async () => {
    await using fs = await serveFileSystem("/");
    await mkdir(fs.host("locked/inner"), { recursive: true });
    await writeFile(fs.host("locked/inner/file"), "");
    await chmod(fs.host("locked/inner"), 0o555);
    try {
      const refused = await fs.call("delete_directory", { json: { path: fs.at("locked") } });
      expect(refused).toMatchObject({ status: 403, code: "permission_denied" });
      expect(refused.message).toContain(fs.at("locked/inner"));
      expect(
        await fs.call("write_file", { method: "PUT", query: { path: fs.at("locked/inner/new") }, body: "" }),
      ).toMatchObject({
        status: 403,
        code: "permission_denied",
      });
    } finally {
      await chmod(fs.host("locked/inner"), 0o755);
    }
    await writeFile(fs.host("read-only"), "old");
    await chmod(fs.host("read-only"), 0o444);
    expect(
      await fs.call("write_file", { method: "PUT", query: { path: fs.at("read-only") }, body: "new" }),
    ).toMatchObject({
      status: 403,
      code: "permission_denied",
    });
    expect(await readFile(fs.host("read-only"), "utf8")).toBe("old");
    expect(
      await fs.call("set_file_permissions", { json: { path: fs.at("read-only"), mode: "644", owner: "1" } }),
    ).toMatchObject({
      status: 403,
      code: "permission_denied",
    });
    expect(await fs.call("set_file_permissions", { json: { path: "/etc/passwd", mode: "666" } })).toMatchObject({
      status: 403,
      code: "permission_denied",
    });
    expect(await fs.call("delete_directory", { json: { path: "/usr/bin" } })).toMatchObject({ status: 403 });
  });
});
