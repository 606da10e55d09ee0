import type { PlacementLog } from "../interface/placement-log.ts";
import { createPlacementWith } from "../create-placement.ts";
import type { Instance, Placement, PlacementKind, PlacementOptions } from "../interface/placement.ts";
import { createNameResolver } from "../policy/resolve-name.ts";
import { certificate, certificateKey } from "./certificate.ts";
import { testEngine } from "./requirements.ts";
import { instanceProgramPath } from "@shoal/instance";
import { waitLimitMs } from "@shoal/testkit";
import { chmod, cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export type Behaviour =
  "fine" | "never ready" | "silent" | "exits" | "refuses" | "refuses once" | "breaks off once" | "leaves traces";

export interface TestPlacement {
  readonly placement: Placement;
  readonly sessionsDir: string;
  readonly lines: readonly { readonly level: string; readonly fields: object; readonly message: string }[];
}

export interface TestPlacementOptions extends Partial<Omit<PlacementOptions, "kind">> {
  readonly kind: PlacementKind | "auto";
  readonly standIn?: Behaviour;
  readonly readyMs?: number;
  /** `host:port` that pods must not reach. */
  readonly closed?: readonly string[];
  readonly sharedIdleMs?: number;
  /** Pretends that bubblewrap does not work here. */
  readonly noSandbox?: true;
}

const clearing: (() => Promise<unknown>)[] = [];
/** Closes placements and removes folders of the test. */
export async function clearPlacements(): Promise<void> {
  for (const clear of clearing.splice(0).reverse()) await clear();
}

export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "shoal-placement-test-"));
  clearing.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** For an engine with TLS. */
export async function clientFiles(): Promise<string> {
  const folder = await temporaryDirectory();
  const files = { "ca.pem": certificate, "cert.pem": certificate, "key.pem": certificateKey };
  await Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(folder, name), content)));
  return folder;
}

const dockerOptions = testEngine !== undefined && {
  docker: { hosts: [testEngine], image: process.env.SHOAL_TEST_DOCKER_IMAGE ?? "localhost/shoal:latest" },
};

const lacksSandbox = { works: false, tools: undefined, reason: "bubblewrap is missing", advice: "" } as const;

/** Uses real instances by default. Closed after the test. */
export async function openPlacement({
  standIn,
  readyMs = waitLimitMs,
  closed,
  sharedIdleMs,
  noSandbox,
  ...options
}: TestPlacementOptions): Promise<TestPlacement> {
  const lines: { level: string; fields: object; message: string }[] = [];
  const sessionsDir = options.sessionsDir ?? (await temporaryDirectory());
  const note = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const log: PlacementLog = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  const programPath = standIn === undefined ? instanceProgramPath : await standInProgram(standIn);
  const placement = await createPlacementWith(
    { warm: 0, allowPrivateHosts: [], ...dockerOptions, ...options, sessionsDir, log },
    {
      resolveName: createNameResolver(),
      programPath,
      readyMs,
      ...(closed && { closed }),
      ...(sharedIdleMs !== undefined && { sharedIdleMs }),
      ...(noSandbox && { sandbox: lacksSandbox }),
    },
  );
  clearing.push(() => placement.close());
  return { placement, sessionsDir, lines };
}

async function standInProgram(behaviour: Behaviour): Promise<string> {
  const folder = await temporaryDirectory();
  await cp(new URL("stand-in.mjs", import.meta.url), join(folder, "stand-in.mjs"));
  await writeFile(join(folder, "behaviour"), behaviour);
  // A box may run as another user.
  await chmod(folder, 0o755);
  return join(folder, "stand-in.mjs");
}

export async function runInside(
  instance: Instance,
  command: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const answer = await instance.request({ method: "POST", path: "/run" }, command);
  return JSON.parse(await text(answer)) as { code: number; stdout: string; stderr: string };
}

export async function sessionFolders(sessionsDir: string): Promise<readonly string[]> {
  const servers = (await readdir(sessionsDir)).filter((name) => name.startsWith("server-"));
  const sessions = await Promise.all(servers.map((name) => readdir(join(sessionsDir, name))));
  return sessions.flat().filter((name) => name !== "owner.json");
}
