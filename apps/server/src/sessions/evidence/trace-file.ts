import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { type Bundle, once, streamBundle } from "./bundle.ts";
import { HarEntries, type HarEntry, type HarEvent, harEventTypes } from "./har.ts";
import { imageSize } from "./image-size.ts";
import { eventsOf, type EventsOf, maxScreenshots, screenshotsOf } from "./stored-events.ts";
import { TraceLines, traceEventTypes, type TraceOf } from "./trace-lines.ts";

export interface TraceParts extends TraceOf {
  readonly events: EventsOf;
  readonly at: Date;
  readonly lastPicture: () => Promise<Buffer | undefined>;
  /** Called before the end for each gap: the trace itself has no place for them. */
  readonly leave: Bundle["leave"];
}

/** `trace.zip` for the trace viewer of Playwright: actions, console, requests and pictures. */
export function traceZip(parts: TraceParts): Readable {
  return streamBundle(parts.at, async (bundle) => {
    const lines = new TraceLines(parts);
    const frames = await addPictures(bundle, parts);
    await bundle.add("trace.trace", traceLines(lines, parts, frames));
    const bodies = new BodyFiles();
    await bundle.add("trace.network", networkLines(lines, parts.events, bodies));
    await addBodies(bundle, parts.events, bodies);
    for (const { reason, what } of bundle.leftOut) parts.leave(what, reason);
  });
}

interface Frame {
  readonly file: string;
  readonly ts: number;
  readonly width: number;
  readonly height: number;
}

/** @returns the pictures; without their bytes, they need little memory. */
async function addPictures(bundle: Bundle, { at, events, lastPicture }: TraceParts): Promise<Frame[]> {
  const frames: Frame[] = [];
  const add = async (file: string, ts: number, content: Buffer) => {
    const size = imageSize(content);
    if (size === undefined) return;
    await bundle.add(`resources/${file}`, once(content), { compress: false });
    frames.push({ file, ts, ...size });
  };
  const onMore = (): void => {
    bundle.leave("more screenshots", `A trace has at most ${String(maxScreenshots)}, from the start of the session.`);
  };
  for await (const { file, png, ts } of screenshotsOf(events, onMore)) await add(file, ts, png);
  const last = await lastPicture();
  if (last !== undefined)
    await add("last.jpg", Math.min((await timeOfPicture(events)) ?? Infinity, at.getTime() * 1000), last);
  return frames;
}

async function timeOfPicture(events: EventsOf): Promise<number | undefined> {
  let ts: number | undefined;
  for await (const chunk of eventsOf(events, { types: ["page_picture"] })) ts = chunk.at(-1)?.event.ts ?? ts;
  return ts;
}

async function* traceLines(
  lines: TraceLines,
  { events }: TraceParts,
  frames: readonly Frame[],
): AsyncGenerator<Uint8Array> {
  yield lineOf([lines.begin()]);
  let next = 0;
  for await (const chunk of eventsOf(events, { types: traceEventTypes })) {
    const shown = chunk.flatMap((envelope) => {
      const before: object[] = [];
      for (let frame = frames[next]; frame !== undefined && frame.ts <= envelope.event.ts; frame = frames[++next])
        before.push(lines.frame(frame));
      return [...before, ...lines.take(envelope)];
    });
    if (shown.length > 0) yield lineOf(shown);
  }
  for (const frame of frames.slice(next)) yield lineOf([lines.frame(frame)]);
}

async function* networkLines(lines: TraceLines, events: EventsOf, bodies: BodyFiles): AsyncGenerator<Uint8Array> {
  for await (const entries of harEntries(events))
    for (const entry of entries) yield lineOf([lines.resource(entry, bodies.nameOf(entry.response.content.text))]);
}

/** A page chooses their number, and the archive has an entry in memory for each. `network.har` has the others, too. */
const maxBodies = 5_000;

/** The bodies that the archive contains, by their content. */
class BodyFiles {
  readonly #names = new Set<string>();
  #hasMore = false;

  get count(): number {
    return this.#names.size;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** @returns `undefined` for the bodies over the limit: a viewer cannot load a file that the archive lacks. */
  nameOf(text: string | undefined): string | undefined {
    if (text === undefined) return undefined;
    const name = createHash("sha1").update(text).digest("hex");
    if (this.#names.has(name)) return name;
    if (this.#names.size === maxBodies) {
      this.#hasMore = true;
      return undefined;
    }
    this.#names.add(name);
    return name;
  }
}

/** Each text once. */
async function addBodies(bundle: Bundle, events: EventsOf, bodies: BodyFiles): Promise<void> {
  if (bodies.hasMore)
    bundle.leave(
      "more bodies of answers",
      `A trace has at most ${String(maxBodies)}, from the start of the session. network.har has them all.`,
    );
  const added = new Set<string>();
  for await (const entries of harEntries(events)) {
    for (const { response } of entries) {
      const { text } = response.content;
      const file = bodies.nameOf(text);
      if (text === undefined || file === undefined || added.has(file)) continue;
      added.add(file);
      await bundle.add(`resources/${file}`, once(Buffer.from(text)));
      if (added.size === bodies.count) return;
    }
  }
}

export async function* harEntries(events: EventsOf): AsyncGenerator<HarEntry[]> {
  const entries = new HarEntries();
  for await (const chunk of eventsOf(events, { types: harEventTypes })) {
    // The question requests these types alone.
    const complete = chunk.flatMap(({ event }) => entries.take(event as HarEvent));
    if (complete.length > 0) yield complete;
  }
  yield* entries.rest();
}

function lineOf(values: readonly object[]): Buffer {
  return Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}
