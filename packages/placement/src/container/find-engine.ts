import { PlacementError } from "../interface/placement-error.ts";
import { seccompProfile } from "../sandbox/seccomp-profile.ts";
import { ContainerEngine, type EngineVersion } from "./engine.ts";
import { engineAddress } from "./engine-address.ts";
import { messageOf } from "@shoal/primitives";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface FoundEngine {
  readonly engine: ContainerEngine;
  readonly version: EngineVersion;
  /** On another machine, or reached like one. */
  readonly isRemote: boolean;
}

/** Where Podman on another machine reads the filter of system calls, `docs/service/session-seccomp.json`. */
const remoteProfilePath = "/etc/shoal/session-seccomp.json";

/** @throws {PlacementError} `bad_option` for other addresses, or if the engine does not answer. */
export async function findEngine(host: string, tlsDir: string | undefined): Promise<FoundEngine> {
  const address = await engineAddress(host, tlsDir);
  const engine = new ContainerEngine(address);
  try {
    return { engine, version: await engine.version(), isRemote: address.isRemote };
  } catch (error) {
    const advice = address.isRemote
      ? "Check the address, and that ca.pem, cert.pem and key.pem of docker_tls_dir belong to it."
      : "Start Docker or Podman (podman system service), and let the user of the service use its socket.";
    throw new PlacementError(
      "bad_option",
      `docker_host: no container engine answers at ${host} (${messageOf(error)}). ${advice}`,
      { cause: error },
    );
  }
}

/** Docker reads the document itself, Podman a file. @param runtimeDir - of this machine; absent for another one. */
export async function profileFor({ name }: EngineVersion, runtimeDir?: string): Promise<string> {
  const profile = seccompProfile({ allowsNamespaces: true });
  if (name === "docker") return profile;
  if (runtimeDir === undefined) return remoteProfilePath;
  return writeProfile(join(runtimeDir, "seccomp.json"), profile);
}

/** For programs of apps. */
export async function programProfileFor({ name }: EngineVersion, runtimeDir?: string): Promise<string> {
  const profile = seccompProfile({ allowsNamespaces: false });
  if (name === "docker") return profile;
  if (runtimeDir === undefined) return remoteProfilePath;
  return writeProfile(join(runtimeDir, "program-seccomp.json"), profile);
}

async function writeProfile(path: string, profile: string): Promise<string> {
  await writeFile(path, profile);
  return path;
}
