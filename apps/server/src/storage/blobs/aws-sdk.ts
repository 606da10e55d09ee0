import { codeOf, hasCode } from "@shoal/primitives";
import { pipeline, Readable, Transform } from "node:stream";
import type { AwsKeys } from "../../config/aws-identity.ts";
import { StartError } from "../../config/start-error.ts";

/** The AWS SDK is an optional dependency. @throws {StartError} when it is not installed. */
export async function withAwsSdk<Module>(setting: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!hasCode(error, "ERR_MODULE_NOT_FOUND")) throw error;
    throw new StartError(`${setting} needs the AWS SDK, an optional dependency that is not installed.`, {
      hint: "Install Shoal with its optional dependencies (without --omit=optional).",
      exitCode: 2,
      cause: error,
    });
  }
}

/** Without keys, the SDK's default chain finds credentials: environment, profile, role of the machine. */
export function credentialsOf(keys: AwsKeys | undefined) {
  return keys === undefined ? {} : { credentials: { accessKeyId: keys.accessKey, secretAccessKey: keys.secretKey } };
}

/** A `deserialize` middleware of low priority that fails the body after `maxBytes`, to protect the memory. */
export function limitAnswer<Result extends { response: unknown }>(result: Result, maxBytes: number): Result {
  const { response } = result;
  if (typeof response !== "object" || response === null || !("body" in response)) return result;
  if (!(response.body instanceof Readable)) return result;
  let length = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      if (length > maxBytes) done(new Error(`the answer is longer than ${String(maxBytes)} bytes`));
      else done(null, chunk);
    },
  });
  response.body = pipeline(response.body, limit, () => undefined);
  return result;
}

/** Status and code of an error answer; `undefined` when the server did not answer. */
export function answerOf(error: unknown): { readonly status: number; readonly code: string } | undefined {
  if (!(error instanceof Error) || !("$metadata" in error)) return undefined;
  const metadata = error.$metadata as { readonly httpStatusCode?: number } | undefined;
  if (metadata?.httpStatusCode === undefined) return undefined;
  // The SDK makes these names up for an answer without a body.
  const code = /^(?:Unknown|UnknownError|Error|\d+)$/.test(error.name) ? "" : error.name;
  return { status: metadata.httpStatusCode, code };
}

/** A code such as `ECONNREFUSED`, or the error's message. */
export function connectionFailure(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return codeOf(cause) ?? cause.message;
}
