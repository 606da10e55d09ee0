import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

interface StoredEvent {
  readonly id: string;
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

/** The latest messages of one connection, so that a client can resume a broken stream. Bounded by number and size. */
export class RecentEvents implements EventStore {
  readonly #events: StoredEvent[] = [];
  readonly #limits: { readonly events: number; readonly characters: number };
  #size = 0;
  #last = 0;

  constructor(limits = { events: 256, characters: 16 * 2 ** 20 }) {
    this.#limits = limits;
  }

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.#last += 1;
    const id = `${String(this.#last)}-${streamId}`;
    const size = JSON.stringify(message).length;
    this.#events.push({ id, streamId, message, size });
    this.#size += size;
    while (this.#events.length > this.#limits.events || this.#size > this.#limits.characters)
      this.#size -= this.#events.shift()?.size ?? 0;
    return Promise.resolve(id);
  }

  getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.#events.find((event) => event.id === id)?.streamId);
  }

  /** @throws {Error} when the event has been dropped. */
  async replayEventsAfter(
    lastId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const index = this.#events.findIndex(({ id }) => id === lastId);
    const streamId = this.#events[index]?.streamId;
    if (streamId === undefined) throw new Error("These messages are no longer available.");
    for (const event of this.#events.slice(index + 1))
      if (event.streamId === streamId) await send(event.id, event.message);
    return streamId;
  }
}
