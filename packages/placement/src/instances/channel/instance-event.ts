import { InstanceEvent, instanceControl, maxInstanceEventBytes } from "@shoal/instance";
import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";
import type { Readable } from "node:stream";
import type { InstanceRequest } from "../../interface/placement.ts";
import { readBoundedLines } from "../../streams/bounded-lines.ts";
import { TokenBucket } from "./token-bucket.ts";

const eventBounds: JsonBounds = { values: 100, depth: 8 };
/** In a row; code in a box is not trusted. */
const eventBurst = 2_000;
const eventEveryMs = 10;

export interface EventReader {
  readonly onEvent: (event: InstanceEvent) => void;
  /** The instance must end. */
  readonly distrust: (why: string) => void;
  /** No further event counts. */
  readonly isOver: () => boolean;
}

/** Reads events until the first invalid one. */
export function readEvents(answer: Readable, { distrust, isOver, onEvent }: EventReader): void {
  const tokens = new TokenBucket(eventBurst, eventEveryMs);
  readBoundedLines(answer, maxInstanceEventBytes, (line, cut) => {
    if (isOver()) return;
    if (!tokens.take()) {
      distrust("The instance was ended: it sent too many events.");
      return;
    }
    if (line === "") return;
    const event = cut ? undefined : parseEvent(line);
    if (event === undefined) distrust("The instance was ended: it sent an invalid event.");
    else onEvent(event);
  });
}

/** @returns `undefined` for anything else: code in a box is not trusted. */
function parseEvent(line: string): InstanceEvent | undefined {
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
