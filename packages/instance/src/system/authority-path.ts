import { join } from "node:path";

export function authorityPath(sessionDir: string): string {
  return join(sessionDir, "xauthority");
}
