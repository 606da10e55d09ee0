import { ServiceError } from "@shoal/router";
import type { Readable } from "node:stream";

/** On this server: a bundle has megabytes in memory while its client reads. */
const limits = { ofProject: 4, ofServer: 16 };

/** Limits the evidence bundles in progress. */
export class BundlePlaces {
  readonly #counts = new Map<string, number>();

  /** @throws {ServiceError} 503 over a limit. */
  check(projectId: string): void {
    const own = this.#counts.get(projectId) ?? 0;
    const all = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    const isOwn = own >= limits.ofProject;
    if (!isOwn && all < limits.ofServer) return;
    const limit = isOwn ? limits.ofProject : limits.ofServer;
    throw new ServiceError(
      503,
      "overloaded",
      `${String(limit)} evidence bundles ${isOwn ? "of this project" : "on this server"} are in progress, the limit.`,
      { limit, hint: "Read them to their end, or repeat the request in a moment.", retryAfterSeconds: 5 },
    );
  }

  /** Holds a place until the stream closes. @throws {ServiceError} as {@link BundlePlaces.check}. */
  hold(projectId: string, open: () => Readable): Readable {
    this.check(projectId);
    const stream = open();
    this.#counts.set(projectId, (this.#counts.get(projectId) ?? 0) + 1);
    stream.once("close", () => {
      const left = (this.#counts.get(projectId) ?? 1) - 1;
      if (left === 0) this.#counts.delete(projectId);
      else this.#counts.set(projectId, left);
    });
    return stream;
  }
}
