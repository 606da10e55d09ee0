// A server to kill or to run as another user. Prints a JSON line about one instance, and runs until its input ends.
import { createPlacementWith } from "../create-placement.ts";
import type { PlacementKind } from "../interface/placement.ts";
import { createNameResolver } from "../policy/resolve-name.ts";
import { instanceProgramPath } from "@shoal/instance";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface Served {
  readonly pid: number;
  readonly instance: { readonly id: string; readonly pid: number | undefined; readonly kind: PlacementKind };
  readonly printed: string;
  readonly warnings: readonly string[];
}

export interface ServeOptions {
  readonly kind: PlacementKind | "auto";
  readonly sessionsDir: string;
  readonly warm: number;
  readonly programPath?: string;
  readonly command?: string;
  readonly exec?: string;
  readonly code?: string;
  readonly sessionDiskBytes?: number;
  readonly forkable?: boolean;
  /** Prints its line once the instance sleeps. */
  readonly sleeps?: boolean;
}

const { kind, sessionsDir, warm, programPath, command, exec, code, forkable, sessionDiskBytes, sleeps } = JSON.parse(
  process.argv[2] ?? "",
) as ServeOptions;
const warnings: string[] = [];
const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (_fields: object, message: string) => void warnings.push(message),
  error: (_fields: object, message: string) => void warnings.push(message),
};
const placement = await createPlacementWith(
  { kind, sessionsDir, warm, allowPrivateHosts: [], log, ...(sessionDiskBytes !== undefined && { sessionDiskBytes }) },
  { resolveName: createNameResolver(), programPath: programPath ?? instanceProgramPath, readyMs: 30_000 },
);
await placement.warmReady();
const instance = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 }, undefined, { forkable });
await placement.warmReady();
const post = async (path: string, body: object): Promise<string> =>
  text(
    await instance.request(
      { method: "POST", path, headers: { "content-type": "application/json" } },
      JSON.stringify(body),
    ),
  );
if (code !== undefined) await post("/playwright/execute", { code });

async function print(): Promise<string> {
  if (command !== undefined) return text(await instance.request({ method: "POST", path: "/run" }, command));
  if (exec === undefined) return "";
  const { stdout_b64 = "" } = JSON.parse(await post("/process/exec", { command: exec })) as { stdout_b64?: string };
  return Buffer.from(stdout_b64, "base64").toString();
}

const printed = await print();
if (sleeps === true)
  await new Promise<void>((resolve) => {
    instance.sleep.onChange(({ type }) => {
      if (type === "asleep") resolve();
    });
    instance.sleep.after(1);
  });

const served: Served = {
  pid: process.pid,
  instance: { id: instance.id, pid: instance.pid, kind: instance.kind },
  printed,
  warnings,
};
process.stdout.write(`${JSON.stringify(served)}\n`);
await once(process.stdin.resume(), "end");
await placement.close();
