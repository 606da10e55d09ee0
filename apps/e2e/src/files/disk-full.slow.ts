import { eventually, eventuallyPasses } from "@shoal/testkit";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { refusalOf } from "../testing/refusal.ts";
import { runService, type TestService } from "../testing/service.ts";
import { serverCount } from "../testing/several-servers.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { zipOf } from "../testing/zip.ts";

const canMount = process.platform === "linux" && process.getuid?.() === 0;
const cannot =
  canMount || process.env.SHOAL_REQUIRE_ALL === "1" ? undefined : "needs root on Linux, to mount a small disk";
const full = {
  status: 507,
  code: "insufficient_storage",
  message: expect.stringContaining("no space is left") as string,
};
const megabyte = 2 ** 20;
/** More than the header of an MP4 file. */
const smallestFilmBytes = 2048;

const disks = [
  ...placements.map((placement) => ({
    ...placement,
    flags: ["--session-disk-mb", "0"],
    isMounted: true,
    disk: `a small disk${cannot === undefined ? "" : ` (skipped, ${cannot})`}`,
  })),
  ...placements
    .filter(({ placement }) => placement === "sandbox")
    .map((placement) => ({
      ...placement,
      flags: ["--session-disk-mb", "300"],
      isMounted: false,
      disk: "files in memory",
    })),
];

describe.each(disks)("a full disk in the placement $title, $disk", ({ placement, skip, flags, isMounted }) => {
  // The disk belongs to one server.
  describe.skipIf(skip || serverCount > 1 || (isMounted && cannot !== undefined))("under a session", () => {
    let test: TestService & { end(): Promise<void> };
    let disk: string;
    let site: Site;
    let id: string;
    let cdpAddress: string;
    beforeAll(async () => {
      site = await serveSite((request, response) => {
        if (request.url !== "/large")
          response.writeHead(200, { "content-type": "text/html" }).end("<title>site</title>");
        else
          response
            .writeHead(200, {
              "content-type": "application/octet-stream",
              "content-disposition": "attachment; filename=large.bin",
            })
            .end(Buffer.alloc(16 * megabyte));
      });
      const dataDir = mkdtempSync(join(tmpdir(), "shoal-e2e-"));
      disk = join(dataDir, "sessions");
      mkdirSync(disk, { mode: 0o700 });
      // A session needs at least 256 MB of free space.
      if (isMounted) execFileSync("mount", ["-t", "tmpfs", "-o", "size=320m,mode=0700", "shoal-e2e", disk]);
      test = await runService(["--placement", placement, "--allow-private-hosts", site.host, ...flags], { dataDir });
      ({ session_id: id, cdp_ws_url: cdpAddress } = await test.shoal.browsers.create({ timeout_seconds: 3600 }));
      const { fs } = test.shoal.browsers;
      await fs.writeFile(id, "old content", { path: "/home/shoal/kept" });
      await fill();
    });
    afterAll(async () => {
      await test.service.stop();
      // A process of the service may end a moment later.
      if (isMounted) await eventuallyPasses(() => execFileSync("umount", [disk]));
      await test.end();
      await site.close();
    });

    /** Leaves less than a megabyte free. */
    async function fill(): Promise<void> {
      const { stderr } = await test.shoal.browsers.process.run(id, {
        command: "sh",
        args: ["-c", "head -c 1G /dev/zero >> filler"],
        cwd: "/home/shoal",
      });
      expect(stderr).toContain("No space left on device");
    }
    const names = async (path: string) =>
      (await test.shoal.browsers.fs.listFiles(id, { path })).map(({ name }) => name).sort();

    it("refuses writes, and removes their partial data", async () => {
      const { fs } = test.shoal.browsers;
      const before = await names("/home/shoal");
      const content = new Uint8Array(4 * megabyte);
      expect(await refusalOf(fs.writeFile(id, content, { path: "/home/shoal/new" }))).toMatchObject(full);
      expect(await refusalOf(fs.writeFile(id, content, { path: "/home/shoal/kept" }))).toMatchObject(full);
      expect(
        await refusalOf(
          fs.upload(id, {
            files: [
              { dest_path: "/home/shoal/one", file: "small" },
              { dest_path: "/home/shoal/two", file: content },
            ],
          }),
        ),
      ).toMatchObject(full);
      const archive = await zipOf([
        { name: "directory/", content: "" },
        { name: "directory/large", content: "x".repeat(4 * megabyte) },
      ]);
      expect(await refusalOf(fs.uploadZip(id, { dest_path: "/home/shoal/unpacked", zip_file: archive }))).toMatchObject(
        full,
      );
      expect(await names("/home/shoal")).toEqual(before);
      expect(await fs.readText(id, { path: "/home/shoal/kept" })).toBe("old content");
      await expect.poll(() => names("/tmp")).toEqual([]);
    });

    // Files in memory count only towards the session.
    it.runIf(isMounted)("refuses another session, and names the free and the required space", async () => {
      expect(await refusalOf(test.shoal.browsers.create({}, { maxRetries: 0 }))).toMatchObject({
        status: 507,
        code: "insufficient_storage",
        message: expect.stringMatching(/The disk of .* has \d+ MB left, and a session needs 256 MB/) as string,
      });
      expect((await test.shoal.browsers.list()).items).toHaveLength(1);
    });

    it("still reads files, runs commands and drives pages", async () => {
      const { browsers } = test.shoal;
      expect((await browsers.process.run(id, { command: "cat", args: ["kept"], cwd: "/home/shoal" })).stdout).toBe(
        "old content",
      );
      expect((await browsers.computer.captureScreenshot(id)).contentType).toBe("image/png");
      expect(
        await browsers.playwright.execute(id, { code: `await page.goto("${site.url}"); return page.title();` }),
      ).toMatchObject({
        success: true,
        result: "site",
      });
    });

    it("ends a page's download without a file of its name", async () => {
      const client = await puppeteer.connect({ browserWSEndpoint: cdpAddress });
      const session = await client.target().createCDPSession();
      await session.send("Browser.setDownloadBehavior", {
        behavior: "allow",
        downloadPath: "/home/shoal/Downloads",
        eventsEnabled: true,
      });
      const ended = new Promise((resolve) => {
        session.on("Browser.downloadProgress", ({ state }) => {
          if (state !== "inProgress") resolve(state);
        });
      });
      const page = await client.newPage();
      await page.goto(`${site.url}large`).catch(() => undefined);
      expect(await ended).toBe("canceled");
      await page.close();
      await client.disconnect();
      // Chromium may keep a partial download with the suffix .crdownload.
      expect((await names("/home/shoal/Downloads")).filter((name) => !name.endsWith(".crdownload"))).toEqual([]);
    });

    it("refuses a new recording, and ends a running one with the frames that fit", async () => {
      const { fs, replays } = test.shoal.browsers;
      expect(await refusalOf(replays.start(id, {}, { maxRetries: 0 }))).toMatchObject(full);
      await fs.deleteFile(id, { path: "/home/shoal/filler" });
      const { replay_id } = await replays.start(id);
      // A film without a frame would have failed.
      const filmPath = join(disk, "..", "replays", id, `${replay_id}.mp4`);
      await eventually(
        "the film has a picture",
        () => (statSync(filmPath, { throwIfNoEntry: false })?.size ?? 0) > smallestFilmBytes,
      );
      await fill();
      const ended = await eventually("the recording ends", async () =>
        (await replays.list(id)).find(
          (replay) => replay.replay_id === replay_id && typeof replay.finished_at === "string",
        ),
      );
      expect(Date.parse(String(ended.finished_at))).toBeGreaterThan(Date.parse(String(ended.started_at)));
      const film = await buffer(Readable.from((await replays.download(id, replay_id)).stream));
      expect(film.toString("latin1", 4, 8)).toBe("ftyp");
    });

    it("works again when space is free", async () => {
      const { browsers } = test.shoal;
      await browsers.fs.deleteFile(id, { path: "/home/shoal/filler" });
      await browsers.fs.writeFile(id, new Uint8Array(4 * megabyte), { path: "/home/shoal/new" });
      expect(
        await browsers.playwright.execute(id, { code: `await page.goto("${site.url}"); return page.title();` }),
      ).toMatchObject({
        success: true,
        result: "site",
      });
      expect((await browsers.get(id)).session_id).toBe(id);
    });
  });
});
