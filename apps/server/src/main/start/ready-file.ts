import { messageOf } from "@shoal/primitives";
import { writePrivateFile } from "../../config/data-dir.ts";
import { StartError } from "../../config/start-error.ts";

/** Lets scripts wait for the service. Mode 0600, because it contains the admin key. @throws {StartError} */
export function writeReadyFile(
  path: string,
  content: { readonly base_url: string; readonly api_key: string | null; readonly pid: number },
): void {
  try {
    writePrivateFile(path, `${JSON.stringify(content)}\n`);
  } catch (error) {
    throw new StartError(`The ready file ${path} cannot be written: ${messageOf(error)}.`, {
      hint: "Name a file in a folder that exists and is writable with --ready-file.",
      cause: error,
    });
  }
}
