import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { BrowserDownload } from "@shoal/schemas";
import { type Readable, Transform } from "node:stream";
import { ZipFile } from "yazl";
import { downloadsPageSize, listDownloads, openDownload } from "../../sessions/downloads/instance-downloads.ts";
import { noAnswer } from "../../sessions/instance-plane/no-answer.ts";

/** As many as an instance lists. */
const maxDownloads = 1000;

/** Finished downloads with a file, newest first. @throws {ServiceError} 503 */
async function finished(instance: Instance, sessionId: string): Promise<BrowserDownload[]> {
  const found: BrowserDownload[] = [];
  try {
    for (let offset = 0; offset < maxDownloads; offset += downloadsPageSize) {
      const page = await listDownloads(instance, offset);
      found.push(...page);
      if (page.length < downloadsPageSize) break;
    }
  } catch (error) {
    throw noAnswer(error, sessionId);
  }
  return found.filter(({ finished_at, path }) => finished_at !== null && path !== null);
}

export async function namesOfDownloads(instance: Instance, sessionId: string): Promise<string[]> {
  return [...new Set((await finished(instance, sessionId)).map(({ name }) => name))];
}

/** The answer of Grid: a ZIP archive with the file, in base64 in JSON. @throws {ServiceError} 404 */
export async function downloadInJson(instance: Instance, sessionId: string, name: string): Promise<Readable> {
  const download = (await finished(instance, sessionId)).find((each) => each.name === name);
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
  zip.addReadStream(content, safeName(name));
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

/** Sites choose the names, so none may leave the folder that the archive is unpacked in. */
function safeName(name: string): string {
  const safe = name
    .toWellFormed()
    .replaceAll(/[/\\:\p{Cc}\p{Cf}]/gu, "_")
    .replace(/^\.+$/, "_");
  return safe === "" ? "download" : safe.slice(0, 200);
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
