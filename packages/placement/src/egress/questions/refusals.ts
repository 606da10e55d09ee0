import type { RuleRefusal } from "../../interface/egress.ts";
import type { ServerResponse } from "node:http";

/** For the instance: `GET /refusals?after=SEQ` answers when there are newer refusals, or after {@link pollMs}. */
export const refusalsPath = "/refusals";

interface ReportedRefusal extends RuleRefusal {
  readonly seq: number;
  /** `host:port`. */
  readonly target: string;
  /** Refusals since the last report with this target and rule. */
  readonly count: number;
  readonly atMs: number;
}

/** A target and rule are reported once in this time; a page may try thousands of times. */
const windowMs = 10_000;
/** Targets and rules in {@link windowMs}; further ones are not reported. */
const maxInWindow = 100;
const maxKept = 100;
const maxTargetCharacters = 300;
const pollMs = 25_000;

/** Refusals of a session by its rules, for telemetry. */
export class Refusals {
  readonly #windows = new Map<string, { readonly endsMs: number; unreported: number }>();
  readonly #reports: ReportedRefusal[] = [];
  readonly #waiting = new Set<() => void>();
  #seq = 0;

  add(target: string, refusal: RuleRefusal): void {
    const now = performance.now();
    const shown = target.slice(0, maxTargetCharacters);
    const key = JSON.stringify([shown, refusal]);
    const known = this.#windows.get(key);
    if (known !== undefined && known.endsMs > now) {
      known.unreported++;
      return;
    }
    if (known === undefined && !this.#makeRoom(now)) return;
    this.#windows.set(key, { endsMs: now + windowMs, unreported: 0 });
    this.#seq++;
    this.#reports.push({ ...refusal, seq: this.#seq, target: shown, count: 1 + (known?.unreported ?? 0), atMs: now });
    if (this.#reports.length > maxKept) this.#reports.shift();
    for (const answer of [...this.#waiting]) answer();
  }

  answer(url: string, response: ServerResponse): void {
    const after = Number(/[?&]after=(\d{1,15})/.exec(url)?.[1] ?? 0);
    const send = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(send);
      const now = performance.now();
      const reports = this.#reports
        .filter(({ seq }) => seq > after)
        .map(({ atMs, ...report }) => ({ ...report, age_ms: Math.round(now - atMs) }));
      response.writeHead(200, { "content-type": "application/json", connection: "close" }).end(JSON.stringify(reports));
    };
    const timer = setTimeout(send, pollMs).unref();
    response.once("close", () => {
      clearTimeout(timer);
      this.#waiting.delete(send);
    });
    if (this.#seq > after) send();
    else this.#waiting.add(send);
  }

  #makeRoom(now: number): boolean {
    if (this.#windows.size < maxInWindow) return true;
    for (const [key, { endsMs }] of this.#windows) if (endsMs <= now) this.#windows.delete(key);
    return this.#windows.size < maxInWindow;
  }
}
