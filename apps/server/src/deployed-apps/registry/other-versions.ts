import { exceededJsonBound } from "@shoal/primitives";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import * as z from "zod/mini";

export interface PackumentRequest {
  readonly url: URL;
  readonly authorization: string | undefined;
  readonly authorities: readonly string[];
}

const Packument = z.object({ versions: z.record(z.string(), z.record(z.string(), z.unknown())) });
const maxBytes = 8 * 2 ** 20;
const bounds = { values: 500_000, depth: 32 };
const answerMs = 10_000;

/** Reads the versions of a package from a registry. @returns none if it does not have the package or does not answer */
export async function otherVersions(
  request: PackumentRequest,
  rewrite: (text: string) => string,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const text = await read(request);
    if (exceededJsonBound(text, bounds) !== undefined) return {};
    return Packument.parse(JSON.parse(rewrite(text.toString("utf8")))).versions;
  } catch {
    return {};
  }
}

async function read({ authorities, authorization, url }: PackumentRequest): Promise<Buffer> {
  const { promise, reject, resolve } = Promise.withResolvers<Buffer>();
  const isSecure = url.protocol === "https:";
  const outgoing = (isSecure ? httpsRequest : httpRequest)(url, {
    headers: { accept: "application/json", ...(authorization !== undefined && { authorization }) },
    signal: AbortSignal.timeout(answerMs),
    ...(isSecure && { ca: [...authorities] }),
  });
  outgoing.on("error", reject);
  outgoing.on("response", (answer) => {
    answer.on("error", reject);
    if (answer.statusCode !== 200) {
      outgoing.destroy(new Error(`The registry answered ${String(answer.statusCode)}.`));
      return;
    }
    const parts: Buffer[] = [];
    let size = 0;
    answer.on("data", (part: Buffer) => {
      size += part.length;
      parts.push(part);
      if (size > maxBytes) outgoing.destroy(new Error("The registry's answer is too long."));
    });
    answer.on("end", () => {
      resolve(Buffer.concat(parts));
    });
  });
  outgoing.end();
  return promise;
}
