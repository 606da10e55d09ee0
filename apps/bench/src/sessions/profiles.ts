import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Figure } from "../measuring/figures.ts";

/** Fills a database of the page's origin with incompressible data, a megabyte at a time. */
const fill = (megabytes: number): string => `await page.evaluate((count) => new Promise((resolve, reject) => {
  const opening = indexedDB.open("filled", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("parts");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = async () => {
    for (let part = 0; part < count; part += 1) {
      const bytes = new Uint8Array(2 ** 20);
      for (let at = 0; at < bytes.length; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
      const write = opening.result.transaction("parts", "readwrite");
      write.objectStore("parts").put(bytes, part);
      await new Promise((done, failed) => { write.oncomplete = done; write.onerror = () => failed(write.error); });
    }
    resolve();
  };
}), ${String(megabytes)})`;

/** Measures saving and loading a profile with a large state against `tar --zstd` of the same files. */
export async function measureProfiles(megabytes: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const site = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<!doctype html>"),
  );
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  const service = await startService(join(folder, "data"), [
    "--warm",
    "0",
    "--log-level",
    "warn",
    "--allow-private-hosts",
    host,
    "--profile-checkpoint-seconds",
    "0",
  ]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey, timeoutMs: 600_000 });
    const profile = { name: "large", save_changes: true };
    await shoal.profiles.create({ name: profile.name });
    const { session_id: first } = await shoal.browsers.create({ profile, timeout_seconds: 3600 });
    await shoal.browsers.playwright.execute(first, {
      code: `await page.goto("http://${host}/"); ${fill(megabytes)}`,
      timeout_sec: 300,
    });
    const timed = async (work: () => Promise<unknown>): Promise<number> => {
      const began = performance.now();
      await work();
      return (performance.now() - began) / 1000;
    };
    const saved = await timed(() => shoal.browsers.delete(first));
    const plain = await timed(async () => shoal.browsers.delete((await shoal.browsers.create()).session_id));
    let second = "";
    const restored = await timed(async () => {
      second = (await shoal.browsers.create({ profile: { name: profile.name } })).session_id;
    });
    await shoal.browsers.delete(second);

    const download = await shoal.profiles.download(profile.name, { format: "tar" });
    if (download === undefined) throw new Error("Nothing was saved.");
    const [archive, files, packed] = [join(folder, "state.tar"), join(folder, "files"), join(folder, "packed.tar.zst")];
    await pipeline(
      Readable.fromWeb(download.stream as import("node:stream/web").ReadableStream),
      createWriteStream(archive),
    );
    mkdirSync(files);
    execFileSync("tar", ["-xf", archive, "-C", files]);
    const packing = await timed(async () => execFileSync("tar", ["--zstd", "-cf", packed, "-C", files, "."]));
    rmSync(files, { recursive: true });
    mkdirSync(files);
    const unpacking = await timed(async () => execFileSync("tar", ["--zstd", "-xf", packed, "-C", files]));
    const perSecond = (seconds: number): number => megabytes / seconds;
    return [
      {
        name: `saving ${String(megabytes)} MB, browser ended, packed, sealed and stored`,
        unit: "MB/s",
        ours: perSecond(saved),
        peer: perSecond(packing),
        peerName: "tar --zstd -c",
      },
      {
        name: `a session's start with it, beyond that of one without and its end (${plain.toFixed(2)} s)`,
        unit: "MB/s",
        ours: perSecond(Math.max(0.001, restored - plain)),
        peer: perSecond(unpacking),
        peerName: "tar --zstd -x",
      },
    ];
  } finally {
    await service.stop();
    site.closeAllConnections();
    site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
