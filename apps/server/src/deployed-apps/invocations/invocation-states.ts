import type { InvocationStateEvent } from "@shoal/schemas";
import type { FollowedState } from "../logs/follow-events.ts";
import { type InvocationStore, stateKey } from "./invocation-store.ts";
import { toInvocation } from "./invocation-view.ts";

/** The state of one invocation for a follower. Reads its payload and output only when the state changes. */
export class InvocationStates {
  readonly #store: InvocationStore;
  readonly #id: string;
  #known: FollowedState<InvocationStateEvent> | undefined;

  constructor(store: InvocationStore, id: string) {
    this.#store = store;
    this.#id = id;
  }

  async look(): Promise<FollowedState<InvocationStateEvent>> {
    if (this.#known !== undefined && this.#known.key === (await this.#store.stateOf(this.#id))) return this.#known;
    const row = await this.#store.find(undefined, this.#id);
    // The row was deleted after its retention.
    if (row === undefined) return { key: "", events: [], order: "last" };
    const timestamp = row.finished_at ?? new Date().toISOString();
    this.#known = {
      key: stateKey(row.status, row.attempts.length),
      events: [{ event: "invocation_state", invocation: toInvocation(row), timestamp }],
      order: row.finished_at === null ? "first" : "last",
    };
    return this.#known;
  }
}
