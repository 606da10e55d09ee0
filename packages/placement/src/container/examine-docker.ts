import type { DockerOptions } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { findEngine, profileFor } from "./create-containers.ts";
import { examineImage } from "./examine-image.ts";
import type { ImageContents } from "./image-contents.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type DockerReport =
  | { readonly works: true; readonly engine: string; readonly image: Pick<ImageContents, "innerSandbox" | "windows"> }
  | { readonly works: false; readonly reason: string };

/** Runs a container of the image. Takes about a second. Never rejects. */
export async function examineDocker({ host, image }: DockerOptions): Promise<DockerReport> {
  const runtimeDir = await mkdtemp(join(tmpdir(), "shoal-probe-"));
  try {
    const { engine, version } = await findEngine(host);
    const seccomp = await profileFor(version, runtimeDir);
    const contents = await examineImage(engine, { image, seccomp, runtimeDir, sessionsDir: runtimeDir });
    return { works: true, engine: `${version.name} ${version.version}`, image: contents };
  } catch (error) {
    return { works: false, reason: PlacementError.isInstance(error) ? error.message : String(error) };
  } finally {
    await rm(runtimeDir, { recursive: true, force: true });
  }
}
