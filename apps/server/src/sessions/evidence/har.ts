import type { NetworkLoadingFailedEvent, NetworkRequestEvent, NetworkResponseEvent } from "@shoal/schemas";

export type HarEvent = NetworkRequestEvent | NetworkResponseEvent | NetworkLoadingFailedEvent;
type Answer = Exclude<HarEvent, NetworkRequestEvent>;

/** Types of the events that {@link HarEntries} takes. */
export const harEventTypes: readonly HarEvent["type"][] = [
  "network_request",
  "network_response",
  "network_loading_failed",
];

interface NameValue {
  readonly name: string;
  readonly value: string;
}

/** An entry of HAR 1.2. Fields with an underscore are extensions. */
export interface HarEntry {
  readonly startedDateTime: string;
  readonly time: number;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly httpVersion: string;
    readonly cookies: readonly never[];
    readonly headers: readonly NameValue[];
    readonly queryString: readonly NameValue[];
    readonly postData?: { readonly mimeType: string; readonly text: string };
    readonly headersSize: number;
    readonly bodySize: number;
  };
  readonly response: {
    readonly status: number;
    readonly statusText: string;
    readonly httpVersion: string;
    readonly cookies: readonly never[];
    readonly headers: readonly NameValue[];
    readonly content: { readonly size: number; readonly mimeType: string; readonly text?: string };
    readonly redirectURL: string;
    readonly headersSize: number;
    readonly bodySize: number;
    readonly _failureText?: string;
  };
  readonly cache: Readonly<Record<string, never>>;
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number };
  readonly _resourceType?: string;
  readonly _targetId?: string;
  readonly _truncated?: true;
}

/** Requests without an answer so far; the oldest ends when there are more. */
const maxPending = 5_000;
/** Length of their events as JSON, together. Each bundle has as much in memory. */
const maxPendingLength = 4 * 2 ** 20;
const restInPiece = 200;

interface Pending {
  readonly asked: NetworkRequestEvent;
  readonly length: number;
}

/** Joins the events of requests to entries. */
export class HarEntries {
  readonly #pending = new Map<string, Pending>();
  /** Ids of pending requests with a body, oldest first. */
  readonly #withBody = new Set<string>();
  #length = 0;

  /** @returns entries that are complete now. */
  take(event: HarEvent): HarEntry[] {
    // Events of other targets may have the same id.
    const id = `${event.data?.session_id ?? ""} ${event.data?.request_id ?? ""}`;
    const asked = this.#remove(id);
    if (event.type !== "network_request") return [entryOf(asked, event)];
    const lost = asked === undefined ? [] : [entryOf(asked, undefined)];
    this.#add(id, event);
    if (event.data?.post_data !== undefined) this.#withBody.add(id);
    return [...lost, ...this.#shrink()];
  }

  /** Requests that have no answer. */
  *rest(): Generator<HarEntry[]> {
    let piece: HarEntry[] = [];
    for (const id of this.#pending.keys()) {
      piece.push(entryOf(this.#remove(id), undefined));
      if (piece.length < restInPiece) continue;
      yield piece;
      piece = [];
    }
    if (piece.length > 0) yield piece;
  }

  #add(id: string, asked: NetworkRequestEvent): void {
    const { length } = JSON.stringify(asked);
    this.#pending.set(id, { asked, length });
    this.#length += length;
  }

  #remove(id: string): NetworkRequestEvent | undefined {
    const found = this.#pending.get(id);
    this.#pending.delete(id);
    this.#withBody.delete(id);
    this.#length -= found?.length ?? 0;
    return found?.asked;
  }

  /** Old requests lose their bodies first: without them, they can still be joined with their answers. */
  #shrink(): HarEntry[] {
    for (const id of this.#withBody) {
      if (this.#length <= maxPendingLength) break;
      const asked = this.#pending.get(id);
      this.#withBody.delete(id);
      if (asked === undefined) continue;
      this.#length -= asked.length;
      // Keeps its place in the map.
      this.#add(id, withoutBody(asked.asked));
    }
    const ended: HarEntry[] = [];
    for (const id of this.#pending.keys()) {
      if (this.#pending.size <= maxPending && this.#length <= maxPendingLength) break;
      ended.push(entryOf(this.#remove(id), undefined));
    }
    return ended;
  }
}

function withoutBody(asked: NetworkRequestEvent): NetworkRequestEvent {
  const { post_data: _body, ...data } = asked.data ?? {};
  return { ...asked, truncated: true, data };
}

function entryOf(asked: NetworkRequestEvent | undefined, answer: Answer | undefined): HarEntry {
  const from = asked?.ts ?? answer?.ts ?? 0;
  const time = Math.max(0, (answer?.ts ?? from) - from) / 1000;
  const resourceType = asked?.data?.resource_type ?? answer?.data?.resource_type;
  const targetId = asked?.data?.target_id ?? answer?.data?.target_id;
  const isCut = asked?.truncated === true || answer?.truncated === true;
  return {
    startedDateTime: new Date(from / 1000).toISOString(),
    time,
    request: requestOf(asked, answer),
    response: responseOf(asked, answer),
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
    ...(resourceType !== undefined && { _resourceType: resourceType }),
    ...(targetId !== undefined && { _targetId: targetId }),
    ...(isCut && { _truncated: true as const }),
  };
}

function requestOf(asked: NetworkRequestEvent | undefined, answer: Answer | undefined): HarEntry["request"] {
  const url = asked?.data?.url ?? answer?.data?.url ?? "";
  const headers = listed(asked?.data?.headers);
  const text = asked?.data?.post_data;
  const method = asked?.data?.method ?? (answer?.type === "network_response" ? answer.data?.method : undefined);
  return {
    method: method ?? "GET",
    url,
    // Telemetry does not record it.
    httpVersion: "",
    cookies: [],
    headers,
    queryString: URL.canParse(url) ? [...new URL(url).searchParams].map(([name, value]) => ({ name, value })) : [],
    ...(text !== undefined && { postData: { mimeType: headerIn(headers, "content-type"), text } }),
    headersSize: -1,
    bodySize: text === undefined ? -1 : Buffer.byteLength(text),
  };
}

function responseOf(asked: NetworkRequestEvent | undefined, answer: Answer | undefined): HarEntry["response"] {
  const found = answer?.type === "network_response" ? answer.data : undefined;
  const headers = listed(found?.headers);
  const body = found?.body;
  const failure =
    answer?.type === "network_loading_failed"
      ? (answer.data?.error_text ?? "failed")
      : answer === undefined && asked !== undefined
        ? "no answer was recorded"
        : undefined;
  return {
    status: found?.status ?? 0,
    statusText: found?.status_text ?? "",
    httpVersion: "",
    cookies: [],
    headers,
    content: {
      size: body === undefined ? -1 : Buffer.byteLength(body),
      mimeType: found?.mime_type ?? "x-unknown",
      ...(body !== undefined && { text: body }),
    },
    redirectURL: found?.is_redirect === true ? headerIn(headers, "location") : "",
    headersSize: -1,
    bodySize: -1,
    ...(failure !== undefined && { _failureText: failure }),
  };
}

function listed(headers: Readonly<Record<string, unknown>> = {}): NameValue[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value: String(value) }));
}

function headerIn(headers: readonly NameValue[], wanted: string): string {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? "";
}

/** A HAR 1.2 file with these entries, in pieces. */
export async function* harFile(
  version: string,
  entries: AsyncIterable<readonly HarEntry[]>,
): AsyncGenerator<Uint8Array> {
  const creator = JSON.stringify({ name: "Shoal", version });
  yield Buffer.from(`{"log":{"version":"1.2","creator":${creator},"pages":[],"entries":[`);
  let isFirst = true;
  for await (const some of entries) {
    for (const entry of some) {
      yield Buffer.from(`${isFirst ? "\n" : ",\n"}${JSON.stringify(entry)}`);
      isFirst = false;
    }
  }
  yield Buffer.from("\n]}}\n");
}
