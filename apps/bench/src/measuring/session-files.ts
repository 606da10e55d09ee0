import type { Shoal } from "@shoal/client";
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Finds a session's directory on the host with a marker file. */
export async function hostPathOf(shoal: Shoal, sessionId: string, directory: string, dataDir: string): Promise<string> {
  const name = randomUUID();
  await shoal.browsers.fs.writeFile(sessionId, "here", { path: `${directory}/${name}` });
  const found = readdirSync(join(dataDir, "sessions"), { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith(name),
  );
  await shoal.browsers.fs.deleteFile(sessionId, { path: `${directory}/${name}` });
  if (found === undefined) throw new Error(`${directory} of session ${sessionId} was not found in ${dataDir}.`);
  return dirname(join(dataDir, "sessions", found));
}
