import type { InstalledProgram } from "../boxes/installed-program.ts";
import type { InstanceFilesOptions } from "../boxes/instance-files.ts";
import type { DockerOptions } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { seccompProfile } from "../sandbox/seccomp-profile.ts";
import { ContainerBoxMaker } from "./container-box-maker.ts";
import { containerUser } from "./container-spec.ts";
import { ContainerEngine, type EngineVersion } from "./engine.ts";
import { examineImage } from "./examine-image.ts";
import type { ImageContents } from "./image-contents.ts";
import { removeLeftovers } from "./leftovers.ts";
import { messageOf } from "@shoal/primitives";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface ContainersOptions extends InstanceFilesOptions {
  readonly docker: DockerOptions | undefined;
  /** Parent of the folders of all servers. */
  readonly sessionsDir: string;
  readonly program: InstalledProgram;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly log: PlacementLog;
}

export interface Containers {
  readonly maker: ContainerBoxMaker;
  readonly contents: ImageContents;
}

/** @throws {PlacementError} `bad_option` if the engine does not answer or the image does not work. */
export async function createContainers(options: ContainersOptions): Promise<Containers> {
  const { docker, folders, log, sessionsDir } = options;
  if (docker === undefined)
    throw new PlacementError("bad_option", "docker: the kind docker needs an engine and an image.");
  const { engine, version } = await findEngine(docker.host);
  await removeLeftovers(engine, { sessionsDir, log });
  const seccomp = await profileFor(version, folders.runtimeDir);
  const contents = await examineImage(engine, {
    image: docker.image,
    seccomp,
    runtimeDir: folders.runtimeDir,
    sessionsDir: folders.sessionsDir,
  });
  const maker = new ContainerBoxMaker({
    ...options,
    engine,
    image: docker.image,
    contents,
    seccomp,
    accounts: await writeAccounts(folders.runtimeDir),
  });
  log.info(
    {
      engine: version.name,
      engine_version: version.version,
      image: docker.image,
      inner_sandbox: contents.innerSandbox,
    },
    "Each session runs in a container.",
  );
  return { maker, contents };
}

/** @throws {PlacementError} `bad_option` for other addresses, or if the engine does not answer. */
export async function findEngine(
  host: string,
): Promise<{ readonly engine: ContainerEngine; readonly version: EngineVersion }> {
  const socketPath = /^unix:\/\/(\/.+)$/.exec(host)?.[1];
  if (socketPath === undefined)
    throw new PlacementError(
      "bad_option",
      `docker_host: must be the socket of an engine on this machine, such as unix:///var/run/docker.sock, not ${host}.`,
    );
  const engine = new ContainerEngine(socketPath);
  try {
    return { engine, version: await engine.version() };
  } catch (error) {
    throw new PlacementError(
      "bad_option",
      `docker_host: no container engine answers at ${host} (${messageOf(error)}). Start Docker or Podman (podman system service), and let the user of the service use its socket.`,
      { cause: error },
    );
  }
}

/** Docker reads the document itself, Podman a file. */
export async function profileFor({ name }: EngineVersion, runtimeDir: string): Promise<string> {
  const profile = seccompProfile();
  if (name === "docker") return profile;
  const path = join(runtimeDir, "seccomp.json");
  await writeFile(path, profile);
  return path;
}

async function writeAccounts(runtimeDir: string): Promise<string> {
  const path = join(runtimeDir, "passwd");
  const id = String(containerUser);
  await writeFile(path, `root:x:0:0:root:/root:/bin/sh\nshoal:x:${id}:${id}:shoal:/home/shoal:/bin/sh\n`);
  await chmod(path, 0o644);
  return path;
}
