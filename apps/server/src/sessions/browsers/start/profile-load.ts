import { InstanceRefusal } from "@shoal/placement";
import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Readable } from "node:stream";
import type { ProfileRef, ProfileStates } from "../../../resources/profiles/profile-states.ts";

/** State on its way into a session's browser. */
export type StateLoad = Pick<ProfileLoad, "explain" | "isCauseOf" | "open" | "version">;

/** A profile's present state, on its way into a session's browser. */
export class ProfileLoad {
  readonly #sessionId: string;
  readonly #profile: ProfileRef;
  readonly #states: Pick<ProfileStates, "open">;
  #version: number | null = null;
  #failure: unknown;

  constructor(sessionId: string, profile: ProfileRef, states: Pick<ProfileStates, "open">) {
    this.#sessionId = sessionId;
    this.#profile = profile;
    this.#states = states;
  }

  /** The version that was opened last. */
  get version(): number | null {
    return this.#version;
  }

  async open(): Promise<Readable> {
    const state = await this.#states.open(this.#profile);
    if (state === undefined)
      throw new ServiceError(404, "not_found", `Profile ${this.#profile.id} was deleted meanwhile.`);
    this.#version = state.version;
    state.archive.once("error", (error) => (this.#failure = error));
    return state.archive;
  }

  /** Whether the profile is the reason for the failed start of an instance. */
  isCauseOf(error: unknown): boolean {
    if (error instanceof InstanceRefusal) return error.field === "profile";
    return error !== undefined && error === this.#failure;
  }

  /** Explains why the instance did not load the profile. */
  explain(cause: unknown): ServiceError {
    if (ServiceError.isInstance(cause)) return cause;
    const what = `Version ${String(this.#version)} of profile ${this.#profile.id} could not be loaded into browser ${this.#sessionId}`;
    if (cause instanceof InstanceRefusal)
      return new ServiceError(503, "browser_not_running", `${what}: ${cause.problem}`, { cause, hint: cause.hint });
    const hint = "Roll the profile back with profiles.rollback if this repeats.";
    return new ServiceError(500, "internal_error", `${what}: ${messageOf(cause)}`, { cause, hint });
  }
}
