import { eventuallyPasses } from "@shoal/testkit";
import { execFileSync } from "node:child_process";
import { chmod, link, lstat, mkdir, readFile, readlink, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { namesIn, rootKinds, serveFileSystem } from "../testing/serve.ts";

describe.each(rootKinds)("reading and writing below %s", (kind) => {
  it("writes a file, creates its directories, and reads it back", async () => {
    await using fs = await serveFileSystem(kind);
    const path = fs.at("new/deep/ä b.txt");
    expect(await fs.call("write_file", { method: "PUT", query: { path }, body: "hello" })).toMatchObject({
      status: 201,
      text: "",
    });
    expect(await readFile(fs.host("new/deep/ä b.txt"), "utf8")).toBe("hello");
    expect((await stat(fs.host("new/deep/ä b.txt"))).mode & 0o7777).toBe(0o644);
    expect((await stat(fs.host("new/deep"))).mode & 0o7777).toBe(0o755);
    const response = await fetch(`${fs.url}/fs/read_file?${new URLSearchParams({ path }).toString()}`);
    expect(response.headers.get("content-length")).toBe("5");
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(await response.text()).toBe("hello");
    expect(await namesIn(fs.directory)).toEqual(["new", "new/deep", "new/deep/ä b.txt"]);
  });

  it("sets the requested mode regardless of the umask, and otherwise keeps the existing mode", async () => {
    await using fs = await serveFileSystem(kind);
    const write = (query: Record<string, string>) =>
      fs.call("write_file", { method: "PUT", query: { path: fs.at("a"), ...query }, body: "1" });
    await write({ mode: "0666" });
    expect((await stat(fs.host("a"))).mode & 0o7777).toBe(0o666);
    await chmod(fs.host("a"), 0o640);
    await write({});
    expect((await stat(fs.host("a"))).mode & 0o7777).toBe(0o640);
    expect(await write({ mode: "888" })).toMatchObject({ status: 400, code: "bad_request" });
  });

  it("reads an empty file, a large file, and a file that is replaced meanwhile", async () => {
    await using fs = await serveFileSystem(kind);
    await writeFile(fs.host("empty"), "");
    expect(await fs.call("read_file", { query: { path: fs.at("empty") } })).toMatchObject({ status: 200, text: "" });
    const large = Buffer.alloc(3_000_001, "abcdefg");
    await writeFile(fs.host("large"), large);
    const response = await fetch(`${fs.url}/fs/read_file?${new URLSearchParams({ path: fs.at("large") }).toString()}`);
    await fs.call("write_file", { method: "PUT", query: { path: fs.at("large") }, body: "other" });
    expect(Buffer.from(await response.arrayBuffer()).equals(large)).toBe(true);
  });

  it("cuts the answer when the file becomes shorter than announced", async () => {
    await using fs = await serveFileSystem(kind);
    await writeFile(fs.host("shrinks"), Buffer.alloc(64 * 1024 * 1024));
    const response = await fetch(
      `${fs.url}/fs/read_file?${new URLSearchParams({ path: fs.at("shrinks") }).toString()}`,
    );
    await truncate(fs.host("shrinks"), 1);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it("reads regular files only, without waiting for a named pipe", async () => {
    await using fs = await serveFileSystem(kind);
    execFileSync("mkfifo", [fs.host("pipe")]);
    await mkdir(fs.host("dir"));
    const answers = await Promise.all(
      ["pipe", "dir"].map((name) => fs.call("read_file", { query: { path: fs.at(name) } })),
    );
    for (const answer of answers) expect(answer).toMatchObject({ status: 400, code: "not_a_file" });
    expect(await fs.call("read_file", { query: { path: fs.at("none") } })).toMatchObject({
      status: 404,
      code: "not_found",
    });
    await writeFile(fs.host("file"), "");
    expect(await fs.call("read_file", { query: { path: `${fs.at("file")}/x` } })).toMatchObject({
      status: 400,
      code: "not_a_directory",
    });
    expect(await fs.call("read_file", { query: { path: "relative" } })).toMatchObject({
      status: 400,
      code: "bad_request",
    });
    expect(await fs.call("read_file", { query: { path: fs.at("n".repeat(256)) } })).toMatchObject({
      status: 400,
      code: "bad_request",
    });
    expect(fs.faults).toEqual([]);
  });

  it("rejects writes to anything but regular files", async () => {
    await using fs = await serveFileSystem(kind);
    execFileSync("mkfifo", [fs.host("pipe")]);
    await mkdir(fs.host("dir"));
    for (const name of ["pipe", "dir", ""]) {
      expect(await fs.call("write_file", { method: "PUT", query: { path: fs.at(name) }, body: "x" })).toMatchObject({
        status: 400,
        code: "not_a_file",
      });
    }
    expect(await namesIn(fs.directory)).toEqual(["dir", "pipe"]);
  });

  it("replaces the target of a link and keeps the link; a hard link keeps the old content", async () => {
    await using fs = await serveFileSystem(kind);
    await mkdir(fs.host("real"));
    await writeFile(fs.host("real/file"), "old");
    await link(fs.host("real/file"), fs.host("hard"));
    await symlink("real/file", fs.host("link"));
    await symlink("real/later", fs.host("dangling"));
    for (const name of ["link", "dangling"])
      expect(await fs.call("write_file", { method: "PUT", query: { path: fs.at(name) }, body: "new" })).toMatchObject({
        status: 201,
      });
    expect((await lstat(fs.host("link"))).isSymbolicLink()).toBe(true);
    expect((await lstat(fs.host("dangling"))).isSymbolicLink()).toBe(true);
    expect(await readFile(fs.host("real/file"), "utf8")).toBe("new");
    expect(await readFile(fs.host("real/later"), "utf8")).toBe("new");
    expect(await readFile(fs.host("hard"), "utf8")).toBe("old");
    expect(await namesIn(fs.directory)).toEqual(["dangling", "hard", "link", "real", "real/file", "real/later"]);
  });

  it("answers links in a circle with 400", async () => {
    await using fs = await serveFileSystem(kind);
    await symlink("b", fs.host("a"));
    await symlink("a", fs.host("b"));
    expect(await fs.call("read_file", { query: { path: fs.at("a") } })).toMatchObject({
      status: 400,
      code: "bad_request",
    });
    expect(await fs.call("write_file", { method: "PUT", query: { path: fs.at("a") }, body: "x" })).toMatchObject({
      status: 400,
      code: "bad_request",
    });
  });

  it("keeps only the old file when the client disconnects during a write", async () => {
    await using fs = await serveFileSystem(kind);
    await writeFile(fs.host("file"), "old");
    for (const name of ["file", "new/dir/file"]) {
      const { hostname, port } = new URL(fs.url);
      const socket = connect(Number(port), hostname);
      socket.write(
        `PUT /fs/write_file?${new URLSearchParams({ path: fs.at(name) }).toString()} HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\n${"x".repeat(100_000)}`,
      );
      await eventuallyPasses(async () => {
        expect((await namesIn(fs.directory)).filter((found) => found.endsWith(".part"))).toHaveLength(1);
      });
      socket.destroy();
      await eventuallyPasses(async () => {
        expect(await namesIn(fs.directory)).toEqual(["file"]);
      });
    }
    expect(await readFile(fs.host("file"), "utf8")).toBe("old");
    expect(fs.faults).toEqual([]);
  });

  it("never shows a reader an incomplete file", async () => {
    await using fs = await serveFileSystem(kind);
    const contents = ["a", "b"].map((letter) => letter.repeat(300_000));
    await fs.call("write_file", { method: "PUT", query: { path: fs.at("file") }, body: contents[0] ?? "" });
    const write = async () => {
      for (let round = 0; round < 20; round++)
        await fs.call("write_file", { method: "PUT", query: { path: fs.at("file") }, body: contents[round % 2] ?? "" });
    };
    const read = async () => {
      for (let round = 0; round < 40; round++)
        expect(contents).toContain((await fs.call("read_file", { query: { path: fs.at("file") } })).text);
    };
    await Promise.all([write(), read()]);
  });

  it("rejects more than the limit, announced or not", async () => {
    await using fs = await serveFileSystem(kind, { uploadBytes: 1000 });
    const body = "x".repeat(1001);
    expect(await fs.call("write_file", { method: "PUT", query: { path: fs.at("a") }, body })).toMatchObject({
      status: 413,
      code: "payload_too_large",
    });
    const stream = new Blob([body]).stream();
    expect(await fs.call("write_file", { method: "PUT", query: { path: fs.at("a") }, body: stream })).toMatchObject({
      status: 413,
      code: "payload_too_large",
    });
    expect(await namesIn(fs.directory)).toEqual([]);
  });

  it("describes files, directories and links as ls does", async () => {
    await using fs = await serveFileSystem(kind);
    await writeFile(fs.host("file"), "12345");
    await chmod(fs.host("file"), 0o4754);
    await mkdir(fs.host("sticky"));
    await chmod(fs.host("sticky"), 0o1777);
    await symlink("file", fs.host("link"));
    const info = async (name: string) =>
      JSON.parse((await fs.call("file_info", { query: { path: fs.at(name) } })).text) as Record<string, unknown>;
    expect(await info("file")).toMatchObject({
      name: "file",
      path: fs.at("file"),
      size_bytes: 5,
      is_dir: false,
      mode: "-rwsr-xr--",
    });
    expect(await info("sticky")).toMatchObject({ size_bytes: 0, is_dir: true, mode: "drwxrwxrwt" });
    expect(await info("link")).toMatchObject({ is_dir: false, mode: "lrwxrwxrwx" });
    expect(await info("sticky/../file/.")).toMatchObject({ path: fs.at("file") });
    expect(await fs.call("file_info", { query: { path: "/" } })).toMatchObject({ status: 200 });
  });
});

it("reads files that the system generates while they are read", async () => {
  await using fs = await serveFileSystem("/");
  const answer = await fs.call("read_file", { query: { path: "/proc/self/status" } });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain("Pid:");
});

it("keeps a connection usable after a rejected upload", async () => {
  await using fs = await serveFileSystem("/", { uploadBytes: 10 });
  const { hostname, port } = new URL(fs.url);
  const status = await new Promise((resolve, reject) => {
    const sent = request(
      {
        host: hostname,
        port,
        method: "PUT",
        path: `/fs/write_file?${new URLSearchParams({ path: fs.at("a") }).toString()}`,
        headers: { "content-type": "application/octet-stream" },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on("error", reject);
    sent.end(Buffer.alloc(5_000_000));
  });
  expect(status).toBe(413);
});

it("names the API path in errors, never the host's path", async () => {
  await using fs = await serveFileSystem("a directory");
  await symlink(join(fs.outside, "secret"), fs.host("out"));
  for (const [operation, name] of [
    ["read_file", "none"],
    ["list_files", "none"],
    ["file_info", "none/x"],
    ["read_file", "out"],
    ["download_dir_zip", "none"],
  ] as const) {
    const { message } = await fs.call(operation, { query: { path: fs.at(name) } });
    expect(message).toContain(`/${name}`);
    expect(message).not.toContain(fs.directory);
    expect(message).not.toContain(fs.outside);
  }
});

it("answers without delay for a pipe that has no writer", async () => {
  await using fs = await serveFileSystem("/");
  execFileSync("mkfifo", [fs.host("pipe")]);
  // A call that waits for a writer ends with the limit of the test.
  expect(await fs.call("read_file", { query: { path: fs.at("pipe") } })).toMatchObject({ status: 400 });
  await symlink("pipe", fs.host("link"));
  expect(await readlink(fs.host("link"))).toBe("pipe");
});
