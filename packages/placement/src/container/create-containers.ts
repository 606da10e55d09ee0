import { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { BoxMaker } from "../boxes/box.ts";
import { installProgram } from "../boxes/installed-program.ts";
import type { ProgramMaker } from "../boxes/program.ts";
import type { ProgramFilesOptions } from "../boxes/program-files.ts";
import { runsAsRoot } from "../host/tools.ts";
import type { DockerOptions } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { ContainerBoxMaker } from "./container-box-maker.ts";
import { ContainerProgramMaker } from "./container-program-maker.ts";
import { containerUser } from "./container-spec.ts";
import { examineImage, examineRemoteImage } from "./examine-image.ts";
import { findEngine, type FoundEngine, profileFor, programProfileFor } from "./find-engine.ts";
import { type ContainerHost, HostsBoxMaker } from "./hosts-box-maker.ts";
import { commonContents, type ImageContents } from "../image/image-contents.ts";
import { RemoteLeftovers, removeLeftovers } from "./leftovers.ts";
import { RemoteContainerBoxMaker } from "./other-machines/remote-container-box-maker.ts";
import { instanceNativeFiles } from "@shoal/instance";
import { randomBytes } from "node:crypto";
import { chmod, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

export interface ContainersOptions extends ProgramFilesOptions {
  readonly docker: DockerOptions | undefined;
  /** Parent of the folders of all servers. */
  readonly sessionsDir: string;
  readonly programPath: string;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly log: PlacementLog;
}

export interface Containers {
  readonly maker: BoxMaker;
  /** What the images of all hosts have. */
  readonly contents: ImageContents;
  readonly isRemote: boolean;
  /** In containers of this machine. */
  readonly programs: ProgramMaker | undefined;
  readonly close: () => Promise<void>;
}

interface Host extends ContainerHost {
  readonly contents: ImageContents;
  readonly isRemote: boolean;
  readonly programs?: ProgramMaker;
  readonly sweep?: () => Promise<void>;
}

const sweepEveryMs = 60_000;

/** @throws {PlacementError} `bad_option` if an engine does not answer or its image does not work. */
export async function createContainers(options: ContainersOptions): Promise<Containers> {
  const { docker, log } = options;
  if (docker === undefined)
    throw new PlacementError("bad_option", "docker: the kind docker needs an engine and an image.");
  const shared = { server: randomBytes(6).toString("hex"), identity: new TlsIdentity("shoal") };
  const hosts = await Promise.all(
    docker.hosts.map(async (host) => {
      const found = await findEngine(host, docker.tlsDir);
      return found.isRemote
        ? openRemote(options, docker.image, found, shared)
        : openLocal(options, docker.image, found);
    }),
  );
  const [first] = hosts;
  if (first === undefined) throw new PlacementError("bad_option", "docker_host: at least one engine is needed.");
  const timer = setInterval(() => {
    for (const { sweep } of hosts) void sweep?.();
  }, sweepEveryMs);
  timer.unref();
  return {
    maker: hosts.length === 1 ? first.maker : new HostsBoxMaker(hosts, log),
    contents: commonContents(hosts.map(({ contents }) => contents)),
    isRemote: hosts.some(({ isRemote }) => isRemote),
    programs: hosts.find(({ programs }) => programs !== undefined)?.programs,
    close: () => {
      clearInterval(timer);
      return Promise.resolve();
    },
  };
}

async function openLocal(options: ContainersOptions, image: string, { engine, version }: FoundEngine): Promise<Host> {
  const { folders, log, programPath, sessionsDir } = options;
  const program = await installProgram(programPath, resolve(sessionsDir), instanceNativeFiles());
  await removeLeftovers(engine, { sessionsDir, log });
  const seccomp = await profileFor(version, folders.runtimeDir);
  const { runtimeDir } = folders;
  const contents = await examineImage(engine, { image, seccomp, runtimeDir, sessionsDir: folders.sessionsDir });
  const common = { ...options, ...{ contents, engine, image }, accounts: await writeAccounts(runtimeDir) };
  const maker = new ContainerBoxMaker({ ...common, program, seccomp });
  const programs = runsAsRoot()
    ? new ContainerProgramMaker({ ...common, seccomp: await programProfileFor(version, runtimeDir) })
    : undefined;
  return described(
    { engine, version },
    image,
    { contents, maker, isRemote: false, ...(programs && { programs }) },
    log,
  );
}

async function openRemote(
  options: ContainersOptions,
  image: string,
  { engine, version }: FoundEngine,
  { identity, server }: { readonly identity: TlsIdentity; readonly server: string },
): Promise<Host> {
  const { log, programPath } = options;
  const leftovers = new RemoteLeftovers(engine, log);
  await leftovers.sweep();
  const [seccomp, programSeccomp] = await Promise.all([profileFor(version), programProfileFor(version)]);
  const contents = await examineRemoteImage(engine, { image, programPath, seccomp, server });
  const maker = new RemoteContainerBoxMaker({
    ...options,
    ...{ contents, engine, identity, image, programSeccomp, seccomp, server },
    programFile: basename(programPath),
  });
  const sweep = (): Promise<void> => leftovers.sweep();
  return described({ engine, version }, image, { contents, maker, isRemote: true, sweep }, log);
}

async function described(
  { engine, version }: Pick<FoundEngine, "engine" | "version">,
  image: string,
  host: Omit<Host, "memoryBytes" | "name">,
  log: PlacementLog,
): Promise<Host> {
  log.info(
    {
      engine: version.name,
      engine_version: version.version,
      host: engine.name,
      image,
      inner_sandbox: host.contents.innerSandbox,
    },
    "Each session runs in a container.",
  );
  return { ...host, name: engine.name, memoryBytes: await engine.memoryBytes() };
}

async function writeAccounts(runtimeDir: string): Promise<string> {
  const path = join(runtimeDir, "passwd");
  const id = String(containerUser);
  await writeFile(path, `root:x:0:0:root:/root:/bin/sh\nshoal:x:${id}:${id}:shoal:/home/shoal:/bin/sh\n`);
  await chmod(path, 0o644);
  return path;
}
