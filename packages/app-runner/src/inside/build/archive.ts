import type { Channel } from "../../protocol/channel.ts";
import { BuildFailure } from "./build-failure.ts";
import { ArchiveError, type ArchiveLimits, packFolder, unpackArchive } from "@shoal/primitives/archive";
import { createReadStream } from "node:fs";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, constants } from "node:zlib";

const chunkBytes = 256 * 1024;

/** Sends a folder as a compressed tar archive with paths relative to `root`. */
export async function sendFolder(channel: Channel, root: string, name: string): Promise<void> {
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  const send = new Writable({
    write(chunk: Buffer, _encoding, done) {
      sendInChunks(channel, chunk).then(() => {
        done();
      }, done);
    },
  });
  await pipeline(packFolder(root, name), compress, send);
  channel.send({ type: "file_end" });
}

async function sendInChunks(channel: Channel, bytes: Buffer): Promise<void> {
  for (let start = 0; start < bytes.length; start += chunkBytes)
    await channel.sendBytes(bytes.subarray(start, start + chunkBytes));
}

/** Unpacks a tar archive, compressed with gzip or zstd. */
export async function unpack(path: string, to: string, limits: ArchiveLimits): Promise<void> {
  try {
    await unpackArchive(createReadStream(path), to, { ...limits, isCompressed: true });
  } catch (error) {
    throw error instanceof ArchiveError ? new BuildFailure(error.message) : error;
  }
}
