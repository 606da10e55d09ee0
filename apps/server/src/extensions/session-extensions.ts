import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { Extensions } from "./extensions.ts";

/** Archives of a thousand megabytes are unpacked in less, on a busy machine too. */
const loadTimeoutMs = 120_000;

/**
 * Loads stored extensions into an instance that nobody else knows yet.
 *
 * @param ids - of extensions of the project, in the order in which they load.
 * @throws {ServiceError} 404 for one that is no more; 400 for one that Chromium refuses.
 */
export async function loadStoredExtensions(
  instance: Instance,
  extensions: Pick<Extensions, "open">,
  session: { readonly projectId: string; readonly ids: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  const boundary = randomBytes(16).toString("hex");

  async function* body(): AsyncGenerator<Buffer | string> {
    for (const [index, id] of session.ids.entries()) {
      const { name, stream } = await extensions.open(session.projectId, id);
      yield `--${boundary}\r\ncontent-disposition: form-data; name="extensions[${String(index)}][name]"\r\n\r\n${name}\r\n`;
      yield `--${boundary}\r\ncontent-disposition: form-data; name="extensions[${String(index)}][zip_file]"; filename="extension.zip"\r\ncontent-type: application/zip\r\n\r\n`;
      yield* stream as AsyncIterable<Buffer>;
      yield "\r\n";
    }
    yield `--${boundary}--\r\n`;
  }

  const source = Readable.from(body(), { objectMode: false });
  let failure: unknown;
  source.once("error", (error) => (failure = error));
  try {
    const signal = AbortSignal.any([session.signal, AbortSignal.timeout(loadTimeoutMs)]);
    const answer = await instance.request(
      { method: "POST", path: "/extensions", headers: { "content-type": `multipart/form-data; boundary=${boundary}` }, signal },
      source,
    );
    const said = await answerText(answer);
    if (answer.statusCode !== 201)
      throw new ServiceError(400, "bad_request", `body.extensions: the session's browser does not load them: ${messageOf(said)}`);
  } catch (error) {
    // An archive that could not be read shows as a connection that broke off.
    throw failure ?? error;
  }
}

function messageOf(said: string): string {
  try {
    const body: unknown = JSON.parse(said);
    if (typeof body === "object" && body !== null && "message" in body && typeof body.message === "string") return body.message.slice(0, 1000);
  } catch {
    // It did not speak JSON.
  }
  return said.slice(0, 500);
}
