import { InstanceRefusal } from "@shoal/placement";
import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Readable } from "node:stream";
import type { LentState } from "../../../resources/profiles/profile-states.ts";
import type { SessionRow } from "../session-store.ts";
import type { StateLoad } from "../start/profile-load.ts";

/** The state of a session, on its way into the browser of a fork. */
export class ForkLoad implements StateLoad {
  readonly #parent: Pick<SessionRow, "id" | "profile_version">;
  readonly #state: Pick<LentState, "open">;
  #failure: unknown;

  constructor(parent: Pick<SessionRow, "id" | "profile_version">, state: Pick<LentState, "open">) {
    this.#parent = parent;
    this.#state = state;
  }

  /** The version of its profile that the forked session started with. */
  get version(): number | null {
    return this.#parent.profile_version;
  }

  async open(): Promise<Readable> {
    const archive = await this.#state.open();
    archive.once("error", (error) => (this.#failure = error));
    return archive;
  }

  isCauseOf(error: unknown): boolean {
    if (error instanceof InstanceRefusal) return error.field === "profile";
    return error !== undefined && error === this.#failure;
  }

  explain(cause: unknown): ServiceError {
    if (ServiceError.isInstance(cause)) return cause;
    const what = `The state of browser ${this.#parent.id} could not be loaded into its fork`;
    return cause instanceof InstanceRefusal
      ? new ServiceError(503, "browser_not_running", `${what}: ${cause.problem}`, { cause, hint: cause.hint })
      : new ServiceError(500, "internal_error", `${what}: ${messageOf(cause)}`, { cause });
  }
}
