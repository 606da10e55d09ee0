import type { BrowserDownload } from "@shoal/schemas";
import type { DownloadEvidence } from "@shoal/schemas";
import { telemetryCategories } from "@shoal/schemas";
import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { version } from "../../config/version.ts";
import { archiveName } from "../../storage/archives/archive-name.ts";
import type { DownloadStore } from "../downloads/download-store.ts";
import { eachDownload, hasFile, openDownload } from "../downloads/instance-downloads.ts";
import type { ReplayStore } from "../replays/replay-store.ts";
import type { TelemetryStore } from "../telemetry/telemetry-store.ts";
import { type Bundle, once } from "./bundle.ts";
import { harFile } from "./har.ts";
import { eventsOf, type EventsOf, linesOf } from "./stored-events.ts";
import { harEntries, traceZip } from "./trace-file.ts";

export type EvidencePart = NonNullable<DownloadEvidence["include"]>[number];

export interface EvidenceStores {
  readonly telemetry: Pick<TelemetryStore, "lastPicture" | "lines">;
  readonly replays: Pick<ReplayStore, "film" | "list" | "retentionDays">;
  readonly downloads: Pick<DownloadStore, "list" | "read" | "retentionHours">;
}

export interface EvidenceOf {
  readonly sessionId: string;
  readonly projectId: string;
  /** Of a running session. */
  readonly instance: Instance | undefined;
  readonly name: string | null;
  /** Start of the session, in milliseconds since 1970. */
  readonly startMs: number;
  readonly viewport: { readonly width: number; readonly height: number };
  /** Time of the bundle. */
  readonly at: Date;
  readonly captured: readonly string[];
  readonly retentionDays: number;
  readonly stores: EvidenceStores;
  readonly events: EventsOf;
}

/** Screenshots have about a megabyte. */
const picturesAtOnce = 4;
const maxDownloads = 1_000;
const maxDownloadBytes = 4 * 2 ** 30;
const withoutPictures = telemetryCategories.filter((category) => category !== "screenshot");

type Writer = (bundle: Bundle, of: EvidenceOf) => Promise<void>;

/** In the order of the archive. */
export const evidenceWriters: Readonly<Record<EvidencePart, Writer>> = {
  telemetry: addTelemetry,
  har: addHar,
  trace: addTrace,
  pictures: addPictures,
  recordings: addRecordings,
  downloads: addDownloads,
};

function absence({ captured, retentionDays }: EvidenceOf, category: string): string {
  return captured.includes(category)
    ? `Nothing is stored: nothing happened, or it is older than ${String(retentionDays)} days (telemetry_retention_days).`
    : `The session does not capture the category ${category}.`;
}

async function addTelemetry(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const lines = linesOf(of.events, { categories: withoutPictures });
  if (!(await bundle.addIfAny("telemetry.ndjson", lines)))
    bundle.leave("telemetry", of.captured.length === 0 ? "The session captures no telemetry." : absence(of, "control"));
}

async function addHar(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const entries = harEntries(of.events);
  const first = await entries.next();
  if (first.done === true) {
    bundle.leave("har", absence(of, "network"));
    return;
  }
  await bundle.add("network.har", harFile(version, startingWith(first.value, entries)));
  if (!of.captured.includes("bodies")) bundle.leave("har bodies", "The session does not capture bodies of requests.");
}

async function* startingWith<Item>(first: Item, rest: AsyncGenerator<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}

async function addTrace(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const { at, captured, events, name, sessionId, startMs, stores, viewport } = of;
  if (captured.length === 0) {
    bundle.leave("trace", "The session captures no telemetry.");
    return;
  }
  const lastPicture = () => stores.telemetry.lastPicture(sessionId, events.reader);
  const about = { at, events, name, sessionId, startMs, viewport, hasActs: captured.includes("page"), lastPicture };
  await bundle.add("trace.zip", traceZip(about) as AsyncIterable<Buffer>, { compress: false });
}

async function addPictures(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const { events, instance, sessionId, stores } = of;
  let hasScreenshots = false;
  for await (const chunk of eventsOf(events, { types: ["monitor_screenshot"], limit: picturesAtOnce })) {
    for (const { event, seq } of chunk) {
      const { png } = (event.data ?? {}) as { readonly png?: string };
      if (png === undefined) continue;
      const name = `pictures/${String(event.ts)}-${String(seq)}.png`;
      await bundle.add(name, once(Buffer.from(png, "base64")), { compress: false });
      hasScreenshots = true;
    }
  }
  if (!hasScreenshots) bundle.leave("screenshots", absence(of, "screenshot"));
  const last = await stores.telemetry.lastPicture(sessionId, events.reader);
  if (last !== undefined) await bundle.add("pictures/last.jpg", once(last), { compress: false });
  else
    bundle.leave(
      "last picture",
      instance === undefined
        ? "None was taken: the session did not capture the category page, or its page could not be shown."
        : "It is taken at the end of the session.",
    );
}

async function addRecordings(bundle: Bundle, { sessionId, stores }: EvidenceOf): Promise<void> {
  const { replays } = stores;
  const recordings = await replays.list(sessionId);
  if (recordings.length === 0) {
    const days = String(replays.retentionDays);
    bundle.leave("recordings", `The session has none, or they are older than ${days} days (replay_retention_days).`);
    return;
  }
  await bundle.addJson("recordings.json", recordings);
  for (const { replay_id: id } of recordings) {
    const name = `recordings/${id}.mp4`;
    try {
      const film = await replays.film(sessionId, id, true);
      if (film === undefined) bundle.leave(name, "The recording has no pictures yet.");
      // A growing film is cut here.
      else
        await bundle.add(name, film.read({ start: 0, end: film.sizeBytes - 1 }) as AsyncIterable<Buffer>, {
          compress: false,
        });
    } catch (error) {
      if (!ServiceError.isInstance(error)) throw error;
      bundle.leave(name, error.message);
    }
  }
}

async function addDownloads(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const { instance, stores } = of;
  if (instance === undefined && stores.downloads.retentionHours === 0) {
    bundle.leave("downloads", "They were deleted at the end of the session (download_retention_hours is 0).");
    return;
  }
  const found = instance === undefined ? await stores.downloads.list(of) : await inInstance(instance, bundle);
  if (found.length === 0) {
    bundle.leave("downloads", "The session has none, or they are no longer kept (download_retention_hours).");
    return;
  }
  await bundle.addJson("downloads.json", found);
  let bytes = 0;
  for (const download of found) {
    const { download_id: id, name, size_bytes: size } = download;
    const path = `downloads/${id}-${archiveName(name)}`;
    bytes += size ?? 0;
    if (!hasFile(download)) bundle.leave(path, `It has no file: its state is ${download.state}.`);
    else if (bytes > maxDownloadBytes) bundle.leave(path, "The downloads before it have more than 4 GiB.");
    else await addDownload(bundle, of, { download, path });
  }
}

async function addDownload(
  bundle: Bundle,
  of: EvidenceOf,
  { download, path }: { readonly download: BrowserDownload; readonly path: string },
): Promise<void> {
  const { instance, stores } = of;
  try {
    const content =
      instance === undefined
        ? await stores.downloads.read(of, download)
        : await openDownload(instance, download.download_id);
    await bundle.add(path, bounded(content, maxDownloadBytes));
  } catch {
    bundle.signal.throwIfAborted();
    bundle.leave(path, "The service could not open it.");
  }
}

/** @throws {Error} for more bytes. */
async function* bounded(content: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > most) throw new Error("The content is longer than announced.");
    yield chunk;
  }
}

/** Newest first. */
async function inInstance(instance: Instance, bundle: Bundle): Promise<BrowserDownload[]> {
  const found: BrowserDownload[] = [];
  try {
    for await (const download of eachDownload(instance, maxDownloads)) found.push(download);
  } catch {
    bundle.signal.throwIfAborted();
    bundle.leave("downloads", "The instance of the session did not list all of them.");
  }
  return found;
}
