import type { Shoal } from "@shoal/client";
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Finds where a directory of a session lies on the host: puts a file there through the service, and looks for it. */
export async function hostPathOf(test: { readonly shoal: Shoal; readonly dataDir: string }, sessionId: string, directory: string): Promise<string> {
  const { fs } = test.shoal.browsers;
  const path = `${directory}/${randomUUID()}`;
  await fs.writeFile(sessionId, "here", { path });
  const sessions = join(test.dataDir, "sessions");
  const found = readdirSync(sessions, { recursive: true, encoding: "utf8" }).find((entry) => entry.endsWith(path));
  await fs.deleteFile(sessionId, { path });
  if (found === undefined) throw new Error(`${directory} of session ${sessionId} was not found in ${sessions}.`);
  return dirname(join(sessions, found));
}
