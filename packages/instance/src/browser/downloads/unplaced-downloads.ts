import pTimeout from "p-timeout";

/** Chromium reports a new download at once, and again when it has a file in its folder. */
const reportsUntilPlaced = 2;
/** A site whose first bytes are late must not keep the connections of clients. */
const placeTimeoutMs = 5_000;

/**
 * Downloads that have begun, but whose file Chromium has not yet put into a folder. It cancels them when the client
 * that has set the folder disconnects.
 */
export class UnplacedDownloads {
  readonly #reports = new Map<string, number>();
  #placed = Promise.withResolvers<void>();

  begin(id: string): void {
    if (this.#reports.size === 0) this.#placed = Promise.withResolvers();
    this.#reports.set(id, 0);
  }

  /** Call it for each report of progress. */
  report(id: string): void {
    const reports = this.#reports.get(id);
    if (reports === undefined) return;
    if (reports + 1 < reportsUntilPlaced) this.#reports.set(id, reports + 1);
    else this.end(id);
  }

  end(id: string): void {
    this.#reports.delete(id);
    if (this.#reports.size === 0) this.#placed.resolve();
  }

  clear(): void {
    this.#reports.clear();
    this.#placed.resolve();
  }

  /** Resolves when all are placed, at the latest after 5 s. */
  async allPlaced(): Promise<void> {
    if (this.#reports.size > 0)
      await pTimeout(this.#placed.promise, { milliseconds: placeTimeoutMs, fallback: () => undefined });
  }
}
