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
import { type Bundle, once, unlessEmpty } from "./bundle.ts";
import { harFile } from "./har.ts";
import { type EventsOf, linesOf, maxOutlines, maxScreenshots, outlinesOf, screenshotsOf } from "./stored-events.ts";
import { harEntries, type TraceParts, traceZip } from "./trace-file.ts";

export type EvidencePart = NonNullable<DownloadEvidence["include"]>[number];

export interface EvidenceStores {
  readonly telemetry: Pick<TelemetryStore, "end" | "lastPicture" | "lines">;
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

const maxDownloads = 1_000;
/** Together. */
const maxDownloadBytes = 4 * 2 ** 30;
const withoutPictures = telemetryCategories.filter((category) => category !== "screenshot");

const couldNotOpen = "The service could not open it. Download the bundle again.";

type Writer = (bundle: Bundle, of: EvidenceOf) => Promise<void>;

/** In the order of the archive. */
export const evidenceWriters: Readonly<Record<EvidencePart, Writer>> = {
  telemetry: addTelemetry,
  har: addHar,
  trace: addTrace,
  outlines: addOutlines,
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
  const lines = await unlessEmpty(linesOf(of.events, { categories: withoutPictures }));
  if (lines !== undefined) await bundle.add("telemetry.ndjson", lines);
  else
    bundle.leave("telemetry", of.captured.length === 0 ? "The session captures no telemetry." : absence(of, "control"));
}

async function addHar(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const entries = await unlessEmpty(harEntries(of.events));
  if (entries === undefined) {
    bundle.leave("har", absence(of, "network"));
    return;
  }
  await bundle.add("network.har", harFile(version, entries));
  if (!of.captured.includes("bodies")) bundle.leave("har bodies", "The session does not capture bodies of requests.");
}

async function addTrace(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const { at, captured, events, name, sessionId, startMs, stores, viewport } = of;
  if (captured.length === 0) {
    bundle.leave("trace", "The session captures no telemetry.");
    return;
  }
  const lastPicture = () => stores.telemetry.lastPicture(sessionId, events.reader);
  const leave = (what: string, reason: string): void => {
    bundle.leave(`trace.zip: ${what}`, reason);
  };
  const hasActs = captured.includes("page");
  const about = { at, events, name, sessionId, startMs, viewport, hasActs, lastPicture, leave };
  await bundle.add("trace.zip", startedLate(about), { compress: false });
}

/** Starts when the archive reads it, so that an archive without a reader has no open trace. */
async function* startedLate(about: TraceParts): AsyncGenerator<Uint8Array> {
  yield* traceZip(about) as AsyncIterable<Buffer>;
}

async function addOutlines(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const onMore = (): void => {
    bundle.leave("more outlines", `A bundle has at most ${String(maxOutlines)}, from the start of the session.`);
  };
  let hasOutlines = false;
  for await (const { file, text } of outlinesOf(of.events, onMore)) {
    await bundle.add(`outlines/${file}`, once(Buffer.from(text)));
    hasOutlines = true;
  }
  if (hasOutlines) return;
  const reason = of.captured.includes("outlines")
    ? absence(of, "page")
    : "The session does not capture outlines: telemetry.browser.page.outlines is not true.";
  bundle.leave("outlines", reason);
}

async function addPictures(bundle: Bundle, of: EvidenceOf): Promise<void> {
  const { events, instance, sessionId, stores } = of;
  let hasScreenshots = false;
  const onMore = (): void => {
    bundle.leave("more screenshots", `A bundle has at most ${String(maxScreenshots)}, from the start of the session.`);
  };
  for await (const { file, png } of screenshotsOf(events, onMore)) {
    await bundle.add(`pictures/${file}`, once(png), { compress: false });
    hasScreenshots = true;
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
      bundle.signal.throwIfAborted();
      bundle.leave(name, ServiceError.isInstance(error) ? error.message : couldNotOpen);
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
  let left = maxDownloadBytes;
  for (const download of found) {
    const { download_id: id, name, size_bytes: size, state } = download;
    const path = `downloads/${id}-${archiveName(name)}`;
    if (!hasFile(download)) bundle.leave(path, `It has no file: its state is ${state}.`);
    else if ((size ?? 0) > left) bundle.leave(path, "With it, the downloads would have more than 4 GiB.");
    else left -= await addDownload(bundle, of, { download, path, maxBytes: left });
  }
}

interface Added {
  readonly download: BrowserDownload;
  readonly path: string;
  /** The announced size may be wrong. */
  readonly maxBytes: number;
}

/** @returns the bytes that were added. */
async function addDownload(bundle: Bundle, of: EvidenceOf, { download, maxBytes, path }: Added): Promise<number> {
  const { instance, stores } = of;
  try {
    const content =
      instance === undefined
        ? await stores.downloads.read(of, download)
        : await openDownload(instance, download.download_id, bundle.signal);
    return await bundle.add(path, content as AsyncIterable<Buffer>, { maxBytes });
  } catch {
    bundle.signal.throwIfAborted();
    bundle.leave(path, couldNotOpen);
    return 0;
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
