import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ConnectionError, Shoal } from "../index.ts";
import { saveTo } from "./index.ts";

const total = 3_000_000;
const half = Buffer.alloc(total / 2, "a");
let folder: string;
let shoal: Shoal;
let afterHalf: (response: ServerResponse) => void;

const server = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": total });
  response.write(half, () => {
    afterHalf(response);
  });
});
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-save-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  shoal = new Shoal({
    apiKey: "sk_secret_0123456789",
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    maxRetries: 0,
  });
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  for (const name of await readdir(folder)) await rm(join(folder, name));
  afterHalf = (response) => response.end(half);
});

const download = () => shoal.browsers.fs.readFile("b", { path: "/a" });

describe("saveTo", () => {
  it("replaces an existing file with a download, and reports progress", async () => {
    const path = join(folder, "file");
    await writeFile(path, "old");
    const told: (number | undefined)[][] = [];
    const size = await saveTo(await download(), path, {
      onProgress: ({ receivedBytes, totalBytes }) => told.push([receivedBytes, totalBytes]),
    });
    expect([size, told.at(-1), (await readFile(path)).equals(Buffer.concat([half, half]))]).toEqual([
      total,
      [total, total],
      true,
    ]);
    expect(told.length).toBeGreaterThan(1);
    expect(await readdir(folder)).toEqual(["file"]);
  });

  it("keeps the permissions of an existing file, and a symbolic link to it", async () => {
    const [path, link] = [join(folder, "private"), join(folder, "link")];
    await writeFile(path, "old");
    await chmod(path, 0o606);
    await symlink("private", link);
    expect(await saveTo(new Blob(["new"]).stream(), link)).toBe(3);
    expect([await readFile(path, "utf8"), (await stat(path)).mode & 0o777, await readlink(link)]).toEqual([
      "new",
      0o606,
      "private",
    ]);
    expect((await readdir(folder)).sort()).toEqual(["link", "private"]);
  });

  it("writes to a named pipe without replacing it", async () => {
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    const read = readFile(path);
    expect(await saveTo(new Blob([half, half]).stream(), path)).toBe(total);
    expect((await read).length).toBe(total);
    expect([(await lstat(path)).isFIFO(), await readdir(folder)]).toEqual([true, ["pipe"]]);
  });

  it("saves a stream", async () => {
    expect(await saveTo(new Blob(["größe"]).stream(), join(folder, "text"))).toBe(7);
    expect(await readFile(join(folder, "text"), "utf8")).toBe("größe");
  });

  it("keeps the existing file when the connection is lost", async () => {
    const path = join(folder, "file");
    await writeFile(path, "old");
    afterHalf = (response) => response.destroy();
    const error: unknown = await saveTo(await download(), path).catch((reason: unknown) => reason);
    expect(ConnectionError.isInstance(error)).toBe(true);
    expect([await readFile(path, "utf8"), await readdir(folder)]).toEqual(["old", ["file"]]);
  });

  it("stops when it is aborted, and closes the connection", async () => {
    const enough = new Error("enough");
    const controller = new AbortController();
    const closed = new Promise((resolve) => {
      afterHalf = (response) => response.once("close", resolve);
    });
    const onProgress = ({ receivedBytes }: { receivedBytes: number }) => {
      // The server sends no more bytes, so the abort must end a pending read.
      if (receivedBytes === half.length)
        setImmediate(() => {
          controller.abort(enough);
        });
    };
    await expect(
      saveTo(await download(), join(folder, "file"), { signal: controller.signal, onProgress }),
    ).rejects.toBe(enough);
    await closed;
    await expect(saveTo(new Blob(["a"]).stream(), join(folder, "file"), { signal: controller.signal })).rejects.toBe(
      enough,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it("rejects with the caller's exception, and for a missing directory, and deletes the partial file", async () => {
    const wrong = new Error("wrong");
    const onProgress = () => {
      throw wrong;
    };
    await expect(saveTo(await download(), join(folder, "file"), { onProgress })).rejects.toBe(wrong);
    await expect(saveTo(await download(), join(folder, "none", "file"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(await readdir(folder)).toEqual([]);
  });
});
