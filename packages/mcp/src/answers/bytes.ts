import { readAtMost } from "@shoal/primitives/node";
import type { Download } from "@shoal/transport";
import { ToolError } from "../base/tool-error.ts";

/** Reads a download up to a limit. @param subject - for the error: `The file`. @throws {ToolError} `too_large` */
export async function readBytes(
  { sizeBytes, stream }: Download,
  subject: string,
  { limitBytes, hint }: { readonly limitBytes: number; readonly hint: string },
): Promise<Buffer> {
  const refuse = () =>
    new ToolError("too_large", `${subject} is larger than the limit of ${String(limitBytes)} bytes.`, hint);
  if (sizeBytes !== undefined && sizeBytes > limitBytes) {
    await stream.cancel();
    throw refuse();
  }
  const bytes = await readAtMost(stream, limitBytes);
  if (bytes === undefined) throw refuse();
  return bytes;
}

/** `undefined` for bytes that are not UTF-8 text. */
export function textIn(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
