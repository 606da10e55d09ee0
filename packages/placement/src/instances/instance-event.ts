import { InstanceEvent, instanceControl } from "@shoal/instance";
import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";
import type { InstanceRequest } from "../interface/placement.ts";

const eventBounds: JsonBounds = { values: 100, depth: 8 };

/** @returns `undefined` for anything else: code in a box is not trusted. */
export function parseEvent(line: string): InstanceEvent | undefined {
  if (exceededJsonBound(Buffer.from(line), eventBounds) !== undefined) return undefined;
  try {
    const result = InstanceEvent.safeParse(JSON.parse(line));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

/** The service follows these until the instance ends. */
export function isOwnStream({ method, path }: InstanceRequest): boolean {
  const { followEvents, followTelemetry } = instanceControl;
  return method === "GET" && (path === followEvents.path || path.startsWith(`${followTelemetry.path}?`));
}
