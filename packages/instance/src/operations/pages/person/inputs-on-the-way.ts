import { setTimeout as wait } from "node:timers/promises";
import type { CommandSender } from "../follow/followed-page.ts";

interface Sent {
  readonly handled: Promise<void>;
  /** The page did not handle it, although it answers. */
  isStuck: boolean;
}

const turnMs = 250;
/** A page that answers this many commands meanwhile is not too busy for its input, which may wait for a drag or a list to end. */
const maxTurns = 20;

/** Input that pages have not handled yet. Commands can overtake it. */
export class InputsOnTheWay {
  readonly #sent = new Map<string, Sent>();

  /** @param handled - resolves when the page has handled the input. */
  add(targetId: string, handled: Promise<unknown>): void {
    const earlier = this.#sent.get(targetId);
    const all = Promise.allSettled([earlier?.handled, handled]).then(() => {
      if (this.#sent.get(targetId) === sent) this.#sent.delete(targetId);
    });
    const sent: Sent = { handled: all, isStuck: earlier?.isStuck ?? false };
    this.#sent.set(targetId, sent);
  }

  /** Resolves when the page has handled its input so far. It does not wait for input that is stuck. */
  async handled(sender: CommandSender): Promise<void> {
    const { cdp, session } = sender.page;
    const sent = this.#sent.get(session.targetId);
    if (sent === undefined || sent.isStuck) return;
    const handled = sent.handled.then(() => true);
    for (let turn = 0; turn < maxTurns; turn++) {
      const timer = new AbortController();
      const isHandled = await sender.ask(Promise.race([handled, wait(turnMs, false, { signal: timer.signal })]));
      timer.abort();
      if (isHandled === true) return;
      await sender.ask(cdp.send("Runtime.evaluate", { expression: "0" }, session.sessionId));
    }
    for (const later of [sent, this.#sent.get(session.targetId)]) if (later !== undefined) later.isStuck = true;
  }
}
