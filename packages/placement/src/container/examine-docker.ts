import type { DockerOptions } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { examineImage, examineRemoteImage } from "./examine-image.ts";
import { findEngine, profileFor } from "./find-engine.ts";
import { commonContents, type ImageContents } from "../image/image-contents.ts";
import { instanceProgramPath } from "@shoal/instance";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type DockerReport =
  | {
      readonly works: true;
      /** Names, versions and addresses. */
      readonly engines: readonly string[];
      readonly image: Pick<ImageContents, "innerSandbox" | "windows">;
    }
  | { readonly works: false; readonly reason: string };

/** Runs a container of the image on each machine. Takes about a second. Never rejects. */
export async function examineDocker({ hosts, image, tlsDir }: DockerOptions): Promise<DockerReport> {
  const runtimeDir = await mkdtemp(join(tmpdir(), "shoal-probe-"));
  try {
    const found = await Promise.all(hosts.map((host) => examineHost(host, { image, runtimeDir, tlsDir })));
    return {
      works: true,
      engines: found.map(({ engine }) => engine),
      image: commonContents(found.map(({ contents }) => contents)),
    };
  } catch (error) {
    return { works: false, reason: PlacementError.isInstance(error) ? error.message : String(error) };
  } finally {
    await rm(runtimeDir, { recursive: true, force: true });
  }
}

async function examineHost(
  host: string,
  {
    image,
    runtimeDir,
    tlsDir,
  }: { readonly image: string; readonly runtimeDir: string; readonly tlsDir: string | undefined },
): Promise<{ readonly engine: string; readonly contents: ImageContents }> {
  const { engine, isRemote, version } = await findEngine(host, tlsDir);
  const name = `${version.name} ${version.version}${isRemote ? ` at ${host}` : ""}`;
  const seccomp = await profileFor(version, isRemote ? undefined : runtimeDir);
  const contents = isRemote
    ? await examineRemoteImage(engine, {
        image,
        programPath: instanceProgramPath,
        seccomp,
        server: randomBytes(6).toString("hex"),
      })
    : await examineImage(engine, { image, seccomp, runtimeDir, sessionsDir: runtimeDir });
  return { engine: name, contents };
}
