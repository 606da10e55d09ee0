import type { Served, ServeOptions } from "./serve.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const running: ChildProcess[] = [];
/** Ends the servers of the test. */
export async function endServers(): Promise<void> {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.stdin?.end();
    await once(child, "exit");
  }
}

/** Runs `serve.ts` until the end of the test. `wrapper`: a command that runs it, for example as another user. */
export async function startServer(
  options: ServeOptions,
  {
    wrapper = [],
    node = process.execPath,
    env,
  }: { wrapper?: readonly string[]; node?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ readonly child: ChildProcess; readonly served: Served }> {
  const command = [
    ...wrapper,
    node,
    "--conditions=@shoal/source",
    fileURLToPath(new URL("serve.ts", import.meta.url)),
    JSON.stringify(options),
  ];
  const child = spawn(command[0] ?? "", command.slice(1), { stdio: ["pipe", "pipe", "pipe"], env: env ?? process.env });
  running.push(child);
  const complaint = text(child.stderr);
  const line = await Promise.race([
    once(createInterface(child.stdout), "line") as Promise<string[]>,
    complaint.then((printed) => Promise.reject(new Error(printed))),
  ]);
  return { child, served: JSON.parse(line[0] ?? "") as Served };
}
