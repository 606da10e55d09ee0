import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";

/** Archives of the same files are identical, at any time. */
const mtime = new Date(2026, 0, 1);

/** @param files - content by path. */
export function zipOf(
  files: Readonly<Record<string, string | Buffer>>,
  options: { readonly mode?: number } = {},
): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files))
    zip.addBuffer(Buffer.from(content), path, { mode: options.mode ?? 0o100644, mtime });
  zip.end();
  return buffer(zip.outputStream);
}

export const manifest = JSON.stringify({ manifest_version: 3, name: "Test", version: "1.0" });
