import { join } from "node:path";

/** The file that tells programs of a session how to be let in by its X server: `XAUTHORITY`. */
export function authorityPath(sessionDir: string): string {
  return join(sessionDir, "xauthority");
}
