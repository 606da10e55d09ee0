import { ServiceError } from "@shoal/router";
import type { LiveViewAccess, Person, PersonLinks } from "../live-view/live-view-address.ts";
import { isActive } from "./handoff-store.ts";
import type { Handoffs } from "./handoffs.ts";
import type { LiveViewLinks } from "./live-view-links.ts";

/** Decides the rights of links to persons, whose rows any server may change. */
export class StoredPersonLinks implements PersonLinks {
  readonly #handoffs: Pick<Handoffs, "onChange" | "store">;
  readonly #links: Pick<LiveViewLinks, "find" | "onChange">;

  constructor(parts: {
    readonly handoffs: Pick<Handoffs, "onChange" | "store">;
    readonly links: Pick<LiveViewLinks, "find" | "onChange">;
  }) {
    this.#handoffs = parts.handoffs;
    this.#links = parts.links;
  }

  async find({ link, sessionId }: Pick<LiveViewAccess, "link" | "sessionId">): Promise<Person | undefined> {
    if (link === undefined) return undefined;
    if (link.kind === "handoff") {
      const row = await this.#handoffs.store.findTimed(link.id);
      if (row?.session_id !== sessionId) throw unknown();
      if (!isActive(row) || row.remaining_ms === 0) throw ended(row.status);
      const { id: linkId, key_id: keyId, label } = row;
      return { linkId, keyId, label, mode: row.status === "taken" ? "control" : "watch" };
    }
    const row = await this.#links.find(sessionId, link.id);
    if (row === undefined) throw unknown();
    return { linkId: row.id, keyId: row.key_id, label: row.label, mode: row.scope === "operate" ? "control" : "watch" };
  }

  onChange(linkId: string, listener: () => void): () => void {
    const onId = (id: string | undefined): void => {
      if (id === undefined || id === linkId) listener();
    };
    const stops = [this.#handoffs.onChange(onId), this.#links.onChange(onId)];
    return () => {
      for (const stop of stops) stop();
    };
  }
}

/** For a person, so without a hint, except where a new link helps. */
function ended(status: string): ServiceError {
  if (status === "released")
    return new ServiceError(401, "unauthorized", "Control was returned. Thank you. You can close this page.");
  if (status === "canceled")
    return new ServiceError(401, "unauthorized", "This request was canceled. You can close this page.");
  return new ServiceError(401, "unauthorized", "This request has expired.", { hint: "Ask for a new link." });
}

function unknown(): ServiceError {
  return new ServiceError(401, "unauthorized", "This link was revoked or has expired.", {
    hint: "Ask for a new link.",
  });
}
