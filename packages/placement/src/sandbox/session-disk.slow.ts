import { boxLauncher, diskParts } from "./launcher.ts";
import type { Instance } from "../interface/placement.ts";
import { sandboxCommand } from "./command.ts";
import { findSandboxTools, spareUserId } from "../host/tools.ts";
import { runsAsRoot } from "../host/tools.ts";
import { openPlacement, runInside, temporaryDirectory } from "../testing/placements.ts";
import { describeWith } from "../testing/requirements.ts";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";

const diskBytes = 20_000_000;
const diskFiles = Math.ceil(diskBytes / 8_192);
/** For each writable folder: its path, and the bytes and files of its filesystem. */
const listWritableFolders = `find / \\( -path /proc -o -path /usr -o -path /opt \\) -prune -o -type d -writable -print 2>/dev/null | while read -r folder; do stat -f -c "%S %b %c $folder" "$folder"; done`;

describeWith(["linux", "chromium", "bubblewrap"], "files of a box in memory", () => {
  describe("in a box of 20 MB", () => {
    let instance: Instance;
    beforeEach(async () => {
      const { placement } = await openPlacement({ kind: "sandbox", standIn: "fine", sessionDiskBytes: diskBytes });
      instance = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
    });

    it("are limited to the configured size", async () => {
      const { stdout, stderr } = await runInside(
        instance,
        "id -u; echo kept > ~/file; head -c 30000000 /dev/zero > /tmp/large; echo $?; rm /tmp/large; cat ~/file; ls ~; stat -c %U ~; (: > /etc/z) 2>&1 | grep -c Read-only",
      );
      expect([stdout.split("\n"), stderr]).toEqual([
        ["1000", "1", "kept", "Downloads", "file", "shoal", "1", ""],
        expect.stringContaining("No space left on device"),
      ]);
    });

    it("are limited in number, in every place that the session can write to", async () => {
      const { stdout } = await runInside(instance, listWritableFolders);
      const places = stdout
        .trim()
        .split("\n")
        .map((line) => line.split(" "));
      expect(places.map(([, , , folder]) => folder)).toEqual(
        expect.arrayContaining(["/", "/tmp", "/home/shoal", "/var/lib/shoal", "/dev/shm"]),
      );
      const parts = diskParts(diskBytes);
      for (const [blockBytes, blocks, files, folder] of places) {
        const limits =
          folder === "/dev/shm"
            ? { bytes: parts.sharedMemory, files: 16_384 }
            : { bytes: parts.files, files: diskFiles };
        const isLimited = Number(blockBytes) * Number(blocks) <= limits.bytes + 4_096;
        expect([folder, isLimited, Number(files) <= limits.files]).toEqual([folder, true, true]);
      }
      // Segments stay until the end of the box, without a process.
      const { systemV } = parts;
      const segments = await runInside(
        instance,
        `n=0; while [ $n -lt 99 ] && ipcmk -M ${String(Math.floor(systemV / 4))} >/dev/null; do n=$((n+1)); done; echo $n`,
      );
      expect(Number(segments.stdout)).toBeLessThanOrEqual(4);
      expect(segments.stderr).toContain("No space left on device");
      const made = await runInside(
        instance,
        "cd ~ && i=0; while (: > f$i) 2>/dev/null; do i=$((i+1)); done; echo $i; : > one-more",
      );
      expect(Number(made.stdout)).toBeLessThan(diskFiles);
      expect(made.stderr).toContain("No space left on device");
      expect((await runInside(instance, ": > /run/shoal/file")).stderr).toContain("Read-only file system");
    });
  });

  it("leave enough space for a browser", async () => {
    const { placement } = await openPlacement({ kind: "sandbox", sessionDiskBytes: 200 * 2 ** 20 });
    const instance = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
    const answer = await instance.request(
      { method: "POST", path: "/playwright/execute", headers: { "content-type": "application/json" } },
      JSON.stringify({ code: 'await page.goto("data:text/html,<title>in memory</title>"); return page.title();' }),
    );
    expect(JSON.parse(await text(answer))).toMatchObject({ success: true, result: "in memory" });
    const written = await instance.request({ method: "PUT", path: "/fs/write_file?path=/home/shoal/file" }, "text");
    expect([written.statusCode, await text(written)]).toEqual([201, ""]);
  });

  it("are limited in size if only bubblewrap may mount", async () => {
    const tools = (await findSandboxTools()) ?? expect.unreachable("Bubblewrap was not found.");
    const folder = await temporaryDirectory();
    const [root, etc] = [join(folder, "root"), join(folder, "etc")];
    await Promise.all([mkdir(root), mkdir(etc)]);
    const [program, ...given] = [
      ...boxLauncher(tools, { owner: undefined }),
      ...sandboxCommand({
        tools,
        etc: { path: etc, bound: [] },
        root,
        memoryFiles: { bytes: diskBytes, folders: ["/tmp", "/home/shoal"], mounted: false },
        readOnly: [],
        writable: [],
        owner: runsAsRoot() ? await spareUserId() : undefined,
        nestedUsers: true,
        program: ["/bin/sh", "-c", listWritableFolders],
      }),
    ] as const;
    const { stdout } = await promisify(execFile)(program, given);
    const places = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
    expect(places.map(([, , , path]) => path)).toEqual(expect.arrayContaining(["/tmp", "/home/shoal", "/dev/shm"]));
    for (const [blockBytes, blocks, , path] of places)
      expect([path, Number(blockBytes) * Number(blocks)]).toEqual([
        path,
        expect.toSatisfy((bytes: number) => bytes <= diskBytes),
      ]);
  });
});
