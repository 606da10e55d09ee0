import type { ChromePolicies } from "../interface/placement.ts";
import type { InstanceFiles } from "./instance-files.ts";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

export function policiesOf({ sessionDir }: InstanceFiles): string {
  return join(sessionDir, "policies");
}

/** Ignores the umask of this process. */
export async function makePolicies(files: InstanceFiles): Promise<void> {
  await mkdir(policiesOf(files));
  await chmod(policiesOf(files), 0o755);
}

/** @returns their revision. */
export async function writePolicies(files: InstanceFiles, policies: ChromePolicies): Promise<string> {
  const revision = randomBytes(8).toString("hex");
  // Renamed, so that a browser reads either the old or the new policies.
  const fresh = join(files.sessionDir, `policies-${revision}`);
  // Chromium reports unknown policies too, so this one confirms the revision.
  await writeFile(fresh, JSON.stringify({ ...policies, ShoalRevision: revision }));
  await chmod(fresh, 0o644);
  await rename(fresh, join(policiesOf(files), "shoal.json"));
  return revision;
}
