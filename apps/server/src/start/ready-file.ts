import { writePrivateFile } from "../data-dir/data-dir.ts";
import { StartError } from "../start-error.ts";

/**
 * Says, for scripts, that the service answers and how to reach it. Mode 0600, for it holds the admin key.
 *
 * @throws {StartError} when the file cannot be written.
 */
export function writeReadyFile(path: string, content: { readonly base_url: string; readonly api_key: string | null; readonly pid: number }): void {
  try {
    writePrivateFile(path, `${JSON.stringify(content)}\n`);
  } catch (error) {
    throw new StartError(`The ready file ${path} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, {
      hint: "Name a file in a folder that exists and is writable with --ready-file.",
      cause: error,
    });
  }
}
