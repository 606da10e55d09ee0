import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pLimit from "p-limit";
import * as z from "zod/mini";
import type { LocalFile, SessionFile, SessionFiles, SessionRef } from "../../storage/session-files/session-files.ts";
import { type Segment, segmentNamed, segmentsOf } from "../../storage/telemetry-files/event-files.ts";
import { type HistoryPage, type HistoryQuestion, segmentsFor } from "../../storage/telemetry-files/history.ts";

interface Placed extends Segment {
  /** In the stored file, which has the segments one after the other. */
  readonly offset: number;
  readonly sizeBytes: number;
}

const kind = "telemetry";
const fileName = "events";
/** Segments of the first try; a question that needs more gets four times as many. */
const firstSegments = 2;

const Description = z.object({
  segments: z.array(z.object({ name: z.string(), size_bytes: z.int().check(z.minimum(0)) })),
});

/** Telemetry of ended sessions in the store: one file per session, of which a question reads a part. */
export class StoredTelemetry {
  readonly isUploading: boolean;
  readonly #files: SessionFiles;
  readonly #scratch: string;
  /** Each needs up to 34 MiB of the disk. */
  readonly #turns = pLimit(4);

  /** @param scratch - folder for parts that are being read. */
  constructor(files: SessionFiles, scratch: string) {
    this.isUploading = files.isUploading;
    this.#files = files;
    this.#scratch = scratch;
  }

  /** Uploads the segments of a directory. */
  async upload(session: SessionRef, directory: string, signal: AbortSignal): Promise<void> {
    const segments = await Promise.all(
      (await segmentsOf(directory)).map(async ({ name }) => {
        const { mtime, size } = await stat(join(directory, name));
        return { name, size, mtime };
      }),
    );
    const ref = { ...session, kind, name: fileName } as const;
    const file: LocalFile = {
      sizeBytes: segments.reduce((sum, { size }) => sum + size, 0),
      keptFrom: segments.at(-1)?.mtime ?? new Date(),
      read: (start, end) => Readable.from(readParts(directory, segments, { start, end }), { objectMode: false }),
    };
    await this.#files.upload(ref, file, signal);
    await this.#files.complete(ref, file, {
      segments: segments.map(({ name, size }) => ({ name, size_bytes: size })),
    });
  }

  /** @param answer - reads a page from a directory. @returns `undefined` when the store has no telemetry of the session. */
  async page(
    sessionId: string,
    question: HistoryQuestion,
    answer: (question: HistoryQuestion) => Promise<HistoryPage>,
  ): Promise<HistoryPage | undefined> {
    const file = await this.#files.find(sessionId, kind, fileName);
    if (file?.isStored !== true) return undefined;
    const needed = segmentsFor(placedOf(file), question);
    return this.#turns(async () => {
      await mkdir(this.#scratch, { recursive: true, mode: 0o700 });
      const directory = await mkdtemp(join(this.#scratch, "events-"));
      try {
        for (let read = 0, most = firstSegments; ; most *= 4) {
          for (const segment of needed.slice(read, most)) await this.#fetch(file, segment, directory);
          read = most;
          const page = await answer({ ...question, directory });
          if (page.hasMore || most >= needed.length) return page;
        }
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  }

  async #fetch(file: SessionFile, { name, offset, sizeBytes }: Placed, directory: string): Promise<void> {
    if (sizeBytes === 0) return;
    const content = this.#files.read(file, { start: offset, end: offset + sizeBytes - 1 });
    await pipeline(content, createWriteStream(join(directory, name), { mode: 0o600 }));
  }
}

function placedOf(file: SessionFile): Placed[] {
  const { segments } = Description.parse(file.description);
  let offset = 0;
  return segments.flatMap(({ name, size_bytes: sizeBytes }) => {
    const segment = segmentNamed(name);
    if (segment === undefined) return [];
    const placed = { ...segment, offset, sizeBytes };
    offset += sizeBytes;
    return [placed];
  });
}

/** @param range - in the segments one after the other. */
async function* readParts(
  directory: string,
  segments: readonly { readonly name: string; readonly size: number }[],
  range: { readonly start: number; readonly end: number },
): AsyncGenerator<Buffer> {
  let offset = 0;
  for (const { name, size } of segments) {
    const [start, end] = [Math.max(0, range.start - offset), Math.min(size - 1, range.end - offset)];
    offset += size;
    if (start <= end) yield* createReadStream(join(directory, name), { start, end }) as AsyncIterable<Buffer>;
  }
}
