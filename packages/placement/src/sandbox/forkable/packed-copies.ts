import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";

const tarOptions = ["--numeric-owner", "--sparse"] as const;
const keptErrorCharacters = 500;

/** Packs entries of a folder. Read or destroy it; it fails if the program fails. */
export function packFolder(folder: string, names: readonly string[]): Readable {
  const child = spawn("tar", ["-C", folder, ...tarOptions, "-cf", "-", ...names], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: toolPath },
  });
  const problem = errorsOf(child.stderr);
  // Files of a session compress well at the lowest level, which costs less time than the encryption.
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  const ended = once(child, "close") as Promise<[number | null]>;
  async function* content(): AsyncGenerator<Buffer> {
    yield* child.stdout as AsyncIterable<Buffer>;
    const [code] = await ended;
    if (code !== 0) throw new Error(`tar could not pack a copy of a session: ${problem()}`);
  }
  ended.catch(() => undefined);
  // The reader of the compressed bytes gets the error.
  pipeline(content, compress).catch(() => undefined);
  compress.once("close", () => child.kill("SIGKILL"));
  return compress;
}

/** @throws errors of the archive, and if it has more than `maxBytes`. */
export async function unpackFolder(
  archive: Readable,
  folder: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<void> {
  const child = spawn("tar", ["-C", folder, ...tarOptions, "--same-owner", "--same-permissions", "-xf", "-"], {
    stdio: ["pipe", "ignore", "pipe"],
    env: { PATH: toolPath },
  });
  const problem = errorsOf(child.stderr);
  const ended = once(child, "close") as Promise<[number | null]>;
  const { stdin } = child;
  stdin.on("error", () => undefined);
  // It may end before it has read the padding, and the rest of the archive must still be authentic.
  async function write(chunks: AsyncIterable<Buffer>): Promise<void> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error("A packed copy of a session is larger than it was.");
      if (stdin.writable && !stdin.write(chunk))
        await Promise.race([once(stdin, "drain").catch(() => undefined), ended]);
    }
    stdin.end();
  }
  try {
    const [, [code]] = await Promise.all([pipeline(archive, createZstdDecompress(), write, { signal }), ended]);
    if (code !== 0) throw new Error(`tar could not unpack a copy of a session: ${problem()}`);
  } catch (error) {
    child.kill("SIGKILL");
    await ended.catch(() => undefined);
    throw error;
  }
}

const toolPath = "/usr/sbin:/usr/bin:/sbin:/bin";

function errorsOf(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (part: string) => (text = (text + part).slice(-keptErrorCharacters)));
  return () => text.trim();
}
