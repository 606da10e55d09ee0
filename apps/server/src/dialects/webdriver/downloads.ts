import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { type Readable, Transform } from "node:stream";
import { ZipFile } from "yazl";
import { openDownload } from "../../sessions/downloads/instance-downloads.ts";
import { noAnswer } from "../../sessions/instance-plane/no-answer.ts";
import { archiveName } from "../../storage/archives/archive-name.ts";
import { finishedDownloads } from "../kit/finished-downloads.ts";

interface ListedFile {
  readonly name: string;
  /** Milliseconds since 1970, as an integer. */
  readonly creationTime: number;
  readonly lastModifiedTime: number;
  /** Bytes. */
  readonly size: number;
}

/** The answer of Grid. Clients read one of both: `files` are the newest download of each name. */
export async function listDownloads(
  instance: Instance,
  sessionId: string,
): Promise<{ readonly names: readonly string[]; readonly files: readonly ListedFile[] }> {
  const downloads = await finishedDownloads(instance, sessionId);
  const files = new Map<string, ListedFile>();
  for (const { finished_at, name, size_bytes, started_at } of downloads) {
    const creationTime = Date.parse(started_at);
    const lastModifiedTime = Date.parse(finished_at ?? started_at);
    if (!files.has(name)) files.set(name, { name, creationTime, lastModifiedTime, size: size_bytes ?? 0 });
  }
  return { names: [...files.keys()], files: [...files.values()] };
}

/** The answer of Grid: a ZIP archive with the file, in base64 in JSON. @throws {ServiceError} 404 */
export async function downloadInJson(instance: Instance, sessionId: string, name: string): Promise<Readable> {
  const download = (await finishedDownloads(instance, sessionId)).find((each) => each.name === name);
  if (download === undefined)
    throw new ServiceError(
      400,
      "bad_request",
      `no finished download has the name ${JSON.stringify(name.slice(0, 200))}`,
      {
        field: "name",
        hint: "List the names with GET …/se/files.",
      },
    );
  const content = await openDownload(instance, download.download_id).catch((error: unknown) => {
    throw noAnswer(error, sessionId);
  });
  const zip = new ZipFile();
  zip.addReadStream(content, archiveName(name));
  zip.end();
  const value = JSON.stringify({ filename: name, contents: "" });
  const text = inBase64(`{"value":${value.slice(0, -2)}`, '"}}');
  const fail = (error: unknown): void => {
    text.destroy(error instanceof Error ? error : new Error("The archive failed."));
  };
  content.on("error", fail);
  zip.on("error", fail);
  text.once("close", () => content.destroy());
  return zip.outputStream.pipe(text);
}

function inBase64(before: string, after: string): Transform {
  let rest = Buffer.alloc(0);
  let isBegun = false;
  const begin = (): string => {
    const text = isBegun ? "" : before;
    isBegun = true;
    return text;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const all = Buffer.concat([rest, chunk]);
      const whole = all.length - (all.length % 3);
      rest = all.subarray(whole);
      done(null, begin() + all.subarray(0, whole).toString("base64"));
    },
    flush(done) {
      done(null, begin() + rest.toString("base64") + after);
    },
  });
}
