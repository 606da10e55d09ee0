import type { PlacementMemory } from "@shoal/placement";
import type { CreateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { badField } from "../bad-field.ts";

const gibBytes = 2 ** 30;
const mibBytes = 2 ** 20;

/** An amount of memory as the wire has it: `4GiB`, or `1536MiB` where it is no whole GiB. */
export function memoryText(bytes: number): string {
  return bytes % gibBytes === 0 ? `${String(bytes / gibBytes)}GiB` : `${String(Math.floor(bytes / mibBytes))}MiB`;
}

/** What a session may ask for; the wire's other sizes are those of sessions that cannot choose. */
const choices: ReadonlySet<string> = new Set(["8GiB", "16GiB"]);

/** A size as a session asks for it. */
export type RequestedMemory = NonNullable<z.output<typeof CreateBrowser>["memory"]>;

/** In bytes. */
export function bytesOfMemory(size: RequestedMemory): number {
  return Number.parseInt(size, 10) * gibBytes;
}

/**
 * Refuses memory that this server cannot give a session.
 *
 * @param maxBytes - the most that the operator allows.
 * @throws {ServiceError} 400 naming the reason.
 */
export function refuseMemory(
  { memory: size, headless }: Pick<z.output<typeof CreateBrowser>, "headless" | "memory">,
  memory: PlacementMemory,
  maxBytes: number,
): void {
  if (size === undefined) return;
  const without = `Leave the field away: the session may then take ${memoryText(memory.usualBytes)}`;
  const bytes = bytesOfMemory(size);
  let problem: string | undefined;
  if (headless !== false) problem = `is for sessions with a window, and this one asks for none. Send headless: false beside it. ${without}`;
  else if (!choices.has(size)) problem = `can be 8GiB or 16GiB. ${without}`;
  else if (memory.unlimitedBecause !== undefined) problem = `no session of this server has a limit of its own. ${memory.unlimitedBecause} ${without}`;
  else if (bytes > memory.machineBytes) problem = `${size} is more than this server has, which is ${memoryText(memory.machineBytes)}. ${without}`;
  else if (bytes > maxBytes)
    problem = `${size} is more than a session of this server may ask for, which is ${memoryText(maxBytes)} (session_memory_max_mb). ${without}`;
  if (problem === undefined) return;
  throw badField("memory", problem);
}
