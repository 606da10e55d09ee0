import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import type { ReplMessage, TextChannel } from "./messages.ts";
import { maxImageCharacters } from "./messages.ts";

export function tell(message: ReplMessage, sent?: () => void): void {
  if (sent === undefined) process.send?.(message);
  else process.send?.(message, undefined, undefined, sent);
}

export function captureOutput(channel: "stdout" | "stderr"): void {
  // Also serves calls with an encoding or without a callback.
  process[channel].write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    tellText(channel, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
    const callback = rest.at(-1);
    if (typeof callback === "function") process.nextTick(callback);
    return true;
  };
}

export function tellText(channel: TextChannel, text: string): void {
  tell({ type: "text", channel, text });
}

export function write(value: unknown): void {
  tellText("write", typeof value === "string" ? value : inspect(value, { depth: 6 }));
}

const kinds: readonly (readonly [type: string, start: RegExp])[] = [
  ["image/png", /^\x89PNG/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8/],
  ["image/webp", /^RIFF.{4}WEBP/s],
];

/** @throws {Error} for a file that is not an image, or too large. */
export function emitImage({ path }: { readonly path: string }): void {
  const bytes = readFileSync(path);
  const start = bytes.toString("latin1", 0, 12);
  const [mimeType] = kinds.find(([, pattern]) => pattern.test(start)) ?? [];
  if (mimeType === undefined) throw new Error(`${path} is not a PNG, JPEG, GIF or WebP image.`);
  const base64 = bytes.toString("base64");
  if (base64.length > maxImageCharacters)
    throw new Error(
      `${path} has ${String(bytes.length)} bytes, too many for an answer. Take a smaller picture: captureScreenshot(path, false, 1000).`,
    );
  tell({ type: "image", mimeType, base64 });
}
