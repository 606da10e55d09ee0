import { eventually } from "@shoal/testkit";
import { randomBytes } from "node:crypto";
import { createReadStream, readdirSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import yazl from "yazl";
import { placements } from "../testing/components.ts";
import { memoryDuring } from "../testing/memory.ts";
import { instances } from "../testing/processes.ts";
import { useService } from "../testing/service.ts";
import { hostPathOf } from "../testing/session-folder.ts";
import { useSession } from "../testing/session.ts";

const mebibyte = 1024 ** 2;
const largeBytes = 512 * mebibyte;
/** Less: archives compress and unpack it. */
const archivedBytes = 320 * mebibyte;
/** Less than half of the moved bytes, and more than buffers and uncollected garbage. */
const flatBytes = 150 * mebibyte;
const block = randomBytes(mebibyte);

function content(sizeBytes: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = sizeBytes;
  return new ReadableStream({
    pull(controller) {
      const size = Math.min(left, block.length);
      if (size === 0) controller.close();
      else controller.enqueue(new Uint8Array(block.subarray(0, size)));
      left -= size;
    },
  });
}

/** Reads a stream to its end and checks its content. */
async function readThrough(stream: ReadableStream<Uint8Array>): Promise<number> {
  let at = 0;
  for await (const chunk of stream) {
    for (let done = 0; done < chunk.length;) {
      const start = (at + done) % block.length;
      const size = Math.min(chunk.length - done, block.length - start);
      if (Buffer.compare(chunk.subarray(done, done + size), block.subarray(start, start + size)) !== 0)
        throw new Error(`Other bytes at ${at + done}.`);
      done += size;
    }
    at += chunk.length;
  }
  return at;
}

describe.each(placements)("transfers in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of large files", () => {
    const test = useService(() => ["--placement", placement, "--session-disk-mb", "0"]);
    const session = useSession(test);
    const pids = () => ({
      ...Object.fromEntries(test.pids.entries()),
      instance: instances(test.processes())[0]?.pid ?? 0,
      client: process.pid,
    });
    const expectFlat = (growth: Readonly<Record<string, number>>) => {
      expect(Object.entries(growth).filter(([, bytes]) => bytes > flatBytes)).toEqual([]);
    };
    const expectRising = (steps: readonly number[], last: number) => {
      expect(steps.length).toBeGreaterThan(10);
      expect(steps.every((bytes, index) => index === 0 || bytes >= (steps[index - 1] ?? 0))).toBe(true);
      expect(steps.at(-1)).toBe(last);
    };

    it("up and down keep the memory flat, and report their progress", async () => {
      const { fs, id } = session;
      const path = `${await session.freshDirectory()}/large`;
      const sent: number[] = [];
      const up = await memoryDuring(pids(), () =>
        fs.writeFile(id, content(largeBytes), { path }, { onUploadProgress: ({ sentBytes }) => sent.push(sentBytes) }),
      );
      expectRising(sent, largeBytes);
      expect((await fs.fileInfo(id, { path })).size_bytes).toBe(largeBytes);
      const received: number[] = [];
      const down = await memoryDuring(pids(), async () => {
        const download = await fs.readFile(
          id,
          { path },
          {
            onDownloadProgress: ({ receivedBytes, totalBytes }) =>
              received.push(totalBytes === largeBytes ? receivedBytes : -1),
          },
        );
        expect(download.sizeBytes).toBe(largeBytes);
        return readThrough(download.stream);
      });
      expect(down.result).toBe(largeBytes);
      expectRising(received, largeBytes);
      expectFlat(up.growth);
      expectFlat(down.growth);
      await fs.deleteFile(id, { path });
    });

    it("as multipart, and as an archive in both directions, keep the memory flat", async ({ skip: skipTest }) => {
      const { bavail, bsize } = await statfs(test.folder);
      skipTest(bavail * bsize < 3 * 1024 ** 3, "less than 3 GiB of disk space");
      const { fs, id } = session;
      const path = await session.freshDirectory();
      const onHost = await hostPathOf(test, id, path);
      await fs.writeFile(id, content(archivedBytes), { path: `${path}/from/large` });
      const upload = await memoryDuring(pids(), () =>
        fs.upload(id, { files: [{ dest_path: `${path}/uploaded`, file: content(archivedBytes) }] }),
      );
      expect(statSync(join(onHost, "uploaded")).size).toBe(archivedBytes);
      await fs.deleteFile(id, { path: `${path}/uploaded` });

      const download = await memoryDuring(pids(), async () => {
        let bytes = 0;
        for await (const chunk of (await fs.downloadDirZip(id, { path: `${path}/from` })).stream) bytes += chunk.length;
        return bytes;
      });
      expect(download.result).toBeGreaterThan(archivedBytes);

      const archive = new yazl.ZipFile();
      archive.addReadStream(createReadStream(join(onHost, "from/large")), "deep/large", { compress: false });
      archive.end();
      const unpack = await memoryDuring(pids(), () =>
        fs.uploadZip(id, {
          dest_path: `${path}/to`,
          zip_file: Readable.toWeb(Readable.from(archive.outputStream, { objectMode: false })) as ReadableStream<
            Uint8Array<ArrayBuffer>
          >,
        }),
      );
      expect(statSync(join(onHost, "to/deep/large")).size).toBe(archivedBytes);
      for (const { growth } of [upload, download, unpack]) expectFlat(growth);
      await fs.deleteDirectory(id, { path });
    });

    it("that are aborted leave no files, and end on both sides", async () => {
      const { fs, id } = session;
      const path = await session.freshDirectory();
      const onHost = await hostPathOf(test, id, path);
      const holders = [pids().instance, ...test.pids];
      const descriptors = () => holders.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0);
      await fs.writeFile(id, content(largeBytes / 4), { path: `${path}/there` });
      const before = descriptors();
      for (const upload of [
        (signal: AbortSignal, onUploadProgress: () => void) =>
          fs.writeFile(id, content(largeBytes), { path: `${path}/new` }, { signal, onUploadProgress }),
        (signal: AbortSignal, onUploadProgress: () => void) =>
          fs.upload(
            id,
            { files: [{ dest_path: `${path}/new`, file: content(largeBytes) }] },
            { signal, onUploadProgress },
          ),
        (signal: AbortSignal, onUploadProgress: () => void) =>
          fs.uploadZip(id, { dest_path: `${path}/new`, zip_file: content(largeBytes) }, { signal, onUploadProgress }),
      ]) {
        const abort = new AbortController();
        let steps = 0;
        await expect(
          upload(abort.signal, () => {
            if (++steps === 100) abort.abort(new Error("enough"));
          }),
        ).rejects.toThrow("enough");
      }
      for (const download of [
        () => fs.readFile(id, { path: `${path}/there` }),
        () => fs.downloadDirZip(id, { path }),
      ]) {
        const { stream } = await download();
        let bytes = 0;
        for await (const chunk of stream) if ((bytes += chunk.length) > 10 * mebibyte) break;
      }
      await eventually("nothing but the old file is there", () => readdirSync(onHost).join() === "there");
      await eventually("no file and no socket stays open", () => descriptors() <= before + 2);
      expect(await readThrough((await fs.readFile(id, { path: `${path}/there` })).stream)).toBe(largeBytes / 4);
      await fs.deleteDirectory(id, { path });
    });
  });
});
