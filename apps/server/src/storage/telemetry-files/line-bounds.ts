import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";

/** The largest events have few, long strings: pictures and bodies. */
const eventBounds: JsonBounds = { values: 10_000, depth: 100 };
/** Shorter lines cannot exceed the limits by much. */
const smallLineCharacters = 1024;

/** Whether an untrusted line is within the structure limits and may be parsed. */
export function isEventLine(line: string): boolean {
  return line.length <= smallLineCharacters || exceededJsonBound(Buffer.from(line), eventBounds) === undefined;
}
