import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { SettledPage } from "../../protocol/page.ts";

const maxEntries = 100;
const maxCharacters = 2_000;
/** Requests that last longer, such as long polls, do not count as activity. Milliseconds. */
const longRequestMs = 4_000;

type Changes = Pick<SettledPage, "navigations" | "requests" | "dialogs" | "passkey_calls" | "challenge">;
type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const followedTypes: ReadonlySet<string> = new Set(["Document", "XHR", "Fetch"]);

/** Collects what happens on a page since the last act. Keeps no bodies, headers or query strings. */
export class PageLog {
  #changes: Writable<Changes> = emptyChanges();
  readonly #running = new Map<string, { readonly method: string; readonly url: string; readonly sinceMs: number }>();
  #isLoading = false;
  #changedAtMs = performance.now();
  #status: number | undefined;
  #hasLoaded = false;

  get changes(): Changes {
    return this.#changes;
  }

  /** Status of the main frame's document. */
  get status(): number | undefined {
    return this.#status;
  }

  /** Whether a document was loaded completely since the last act. */
  get hasLoaded(): boolean {
    return this.#hasLoaded;
  }

  /** Milliseconds since the last activity; 0 while the page loads or waits for a request. */
  get quietMs(): number {
    const nowMs = performance.now();
    if (this.#isLoading) return 0;
    for (const { sinceMs } of this.#running.values()) if (nowMs - sinceMs < longRequestMs) return 0;
    return nowMs - this.#changedAtMs;
  }

  /** Begins the report of a new act. */
  begin(): void {
    this.#changes = emptyChanges();
    this.#hasLoaded = false;
    this.touch();
  }

  touch(): void {
    this.#changedAtMs = performance.now();
  }

  loading(isLoading: boolean): void {
    this.#isLoading = isLoading;
    this.#hasLoaded = !isLoading;
    this.touch();
  }

  navigated(url: string): void {
    push(this.#changes.navigations, cut(url));
    this.touch();
  }

  requested({ requestId, request, type }: Protocol.Network.RequestWillBeSentEvent): void {
    if (type === undefined || !followedTypes.has(type) || this.#running.size >= maxEntries) return;
    this.#running.set(requestId, { method: request.method, url: request.url, sinceMs: performance.now() });
    this.touch();
  }

  answered({ requestId, response, type }: Protocol.Network.ResponseReceivedEvent, isMainFrame: boolean): void {
    const request = this.#running.get(requestId);
    if (request === undefined) return;
    if (isMainFrame && type === "Document") this.#status = response.status;
    push(this.#changes.requests, { method: request.method, ...placeOf(request.url), status: response.status });
    this.touch();
  }

  ended(requestId: string): void {
    if (this.#running.delete(requestId)) this.touch();
  }

  dialog(type: string, message: string): void {
    push(this.#changes.dialogs, { type, message: cut(message) });
    this.touch();
  }

  passkeyCalled(mediation: string): void {
    push(this.#changes.passkey_calls, { mediation: mediation.slice(0, 32) });
    this.touch();
  }

  challenged(challenge: NonNullable<Changes["challenge"]>): void {
    this.#changes.challenge = challenge;
    this.touch();
  }
}

function emptyChanges(): Writable<Changes> {
  return { navigations: [], requests: [], dialogs: [], passkey_calls: [] };
}

function push<T>(list: T[], entry: T): void {
  if (list.length < maxEntries) list.push(entry);
}

function cut(text: string): string {
  return text.slice(0, maxCharacters);
}

function placeOf(address: string): { readonly host: string; readonly path: string } {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return { host: url?.hostname ?? "", path: cut(url?.pathname ?? "") };
}
