import { refuseMemorySize } from "@shoal/contract/refusals";
import type { PlacementMemory } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import { badField } from "../../../http/bad-field.ts";

const gibBytes = 2 ** 30;
const mibBytes = 2 ** 20;

/** Returns `4GiB`, or `1536MiB` if it is not a whole number of GiB. */
export function memoryText(bytes: number): string {
  return bytes % gibBytes === 0 ? `${String(bytes / gibBytes)}GiB` : `${String(Math.floor(bytes / mibBytes))}MiB`;
}

export type RequestedMemory = NonNullable<z.output<typeof CreateBrowser>["memory"]>;

export function bytesOfMemory(size: RequestedMemory): number {
  return Number.parseInt(size, 10) * gibBytes;
}

/** @param maxBytes - limit of the operator. @throws {ServiceError} 400 if this server cannot provide the memory. */
export function refuseMemory(
  { memory: size, headless }: Pick<z.output<typeof CreateBrowser>, "headless" | "memory">,
  memory: PlacementMemory,
  maxBytes: number,
): void {
  if (size === undefined) return;
  const refusal = refuseMemorySize({ headless, memory: size });
  if (refusal !== undefined) throw ServiceError.of(refusal);
  const without = `Omit the field: the session may then use ${memoryText(memory.usualBytes)}`;
  const bytes = bytesOfMemory(size);
  let problem: string | undefined;
  if (memory.unlimitedBecause !== undefined)
    problem = `sessions of this server have no separate memory limit. ${memory.unlimitedBecause} ${without}`;
  else if (bytes > memory.machineBytes)
    problem = `${size} is more than this server has, which is ${memoryText(memory.machineBytes)}. ${without}`;
  else if (bytes > maxBytes)
    problem = `${size} is more than a session of this server may ask for, which is ${memoryText(maxBytes)} (session_memory_max_mb). ${without}`;
  if (problem === undefined) return;
  throw badField("memory", problem);
}
