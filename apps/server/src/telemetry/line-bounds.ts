import { exceededJsonBound, type JsonBounds } from "@shoal/router";

/** The most structure that an event of telemetry may have. The largest ones are a few long strings: pictures and bodies. */
const eventBounds: JsonBounds = { values: 10_000, depth: 100 };
/** A line of so many characters cannot exceed the bounds by much. */
const smallLineCharacters = 1024;

/** Whether a line can be parsed: an instance has written it, and lines with more structure than an event may have are no events. */
export function isEventLine(line: string): boolean {
  return line.length <= smallLineCharacters || exceededJsonBound(Buffer.from(line), eventBounds) === undefined;
}
