import { type ContextScope, isInside } from "./context-scope.ts";

/** Events of a download that may be another context's. */
const maxHeld = 100;
const maxKnown = 10_000;

interface EventFields {
  readonly guid?: unknown;
  readonly frameId?: unknown;
  readonly filePath?: unknown;
}

/**
 * Chromium reports the downloads of all browser contexts to each client that enables the events for one. Passes those on that begin in
 * a frame of the own context, or end in its folder.
 */
export class DownloadEvents {
  readonly #scope: ContextScope;
  readonly #pass: (text: string) => void;
  /** By guid. The events of a download wait until its context is known. */
  readonly #downloads = new Map<string, "own" | string[]>();

  constructor(scope: ContextScope, pass: (text: string) => void) {
    this.#scope = scope;
    this.#pass = pass;
  }

  willBegin({ frameId, guid }: EventFields, text: string): void {
    if (typeof frameId !== "string" || typeof guid !== "string") return;
    if (this.#downloads.size >= maxKnown) this.#downloads.clear();
    if (this.#scope.targets.isKnown(frameId)) {
      this.#downloads.set(guid, "own");
      this.#pass(text);
      return;
    }
    this.#downloads.set(guid, [text]);
    this.#scope.targets.hasFrame(frameId).then(
      (isOwn) => {
        if (isOwn) this.#release(guid);
      },
      () => undefined,
    );
  }

  progress({ filePath, guid }: EventFields, text: string): void {
    const known = typeof guid === "string" ? this.#downloads.get(guid) : undefined;
    if (known === undefined || typeof guid !== "string") return;
    if (known === "own") {
      this.#pass(text);
      return;
    }
    if (known.length < maxHeld) known.push(text);
    if (isInside(this.#scope, filePath)) this.#release(guid);
  }

  #release(guid: string): void {
    const held = this.#downloads.get(guid);
    if (held === undefined || held === "own") return;
    this.#downloads.set(guid, "own");
    for (const text of held) this.#pass(text);
  }
}
