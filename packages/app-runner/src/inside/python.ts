import type { Channel } from "../protocol/channel.ts";
import type { Serve } from "../protocol/messages.ts";
import { messageOf } from "@shoal/primitives";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Duplex } from "node:stream";

const descriptor = 3;

/** Runs the app in Python, which speaks the same protocol. */
export async function runPython(
  channel: Channel,
  serve: Serve,
  python: { readonly program: string; readonly paths: readonly string[] },
): Promise<void> {
  const child = spawn(
    python.program,
    ["-u", join(__dirname, "runner.py"), String(descriptor), serve.entry, ...python.paths],
    { stdio: ["ignore", "inherit", "inherit", "pipe"] },
  );
  const started = once(child, "spawn");
  const pipe: unknown = child.stdio[descriptor];
  if (!(pipe instanceof Duplex)) throw new Error("Python has no channel.");
  try {
    await started;
  } catch (error) {
    const reason = `Python cannot be started: ${messageOf(error)}. Install Python 3.11 or newer.`;
    channel.send({ type: "failed", reason });
    await channel.close();
    process.exit(1);
  }
  channel.handOver(pipe);
  const ended = once(pipe, "end");
  const [code] = (await once(child, "exit")) as [number | null];
  await ended;
  await channel.close();
  process.exit(code ?? 1);
}
