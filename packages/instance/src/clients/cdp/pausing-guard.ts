import { type AutomationPause, handoffMessage } from "../../pause/automation-pause.ts";
import { type CdpCommand, readingCommand } from "../../pause/reading-methods.ts";
import type { CdpGuard, GuardVerdict } from "./guard.ts";

/** Messages of one client that wait for the end of a handoff. */
const maxHeldMessages = 1_000;
/** Also the largest message during a handoff, in bytes. */
export const maxHeldBytes = 8 * 2 ** 20;
/** Server error of JSON-RPC. */
const errorCode = -32_000;

type Pause = Pick<AutomationPause, "isActive" | "refuses" | "whenOver">;

/** Holds or refuses the commands of one client while a person controls the session. Reading commands pass. */
export function createPausingGuard(guard: CdpGuard, pause: Pause): CdpGuard {
  return new ClientPause(guard, pause).verdict;
}

class ClientPause {
  readonly #guard: CdpGuard;
  readonly #pause: Pause;
  #heldMessages = 0;
  #heldBytes = 0;

  constructor(guard: CdpGuard, pause: Pause) {
    this.#guard = guard;
    this.#pause = pause;
  }

  readonly verdict = (message: Buffer): GuardVerdict => {
    if (!this.#pause.isActive) return this.#guard(message);
    const command = parse(message);
    if (command === undefined)
      return { answer: JSON.stringify({ error: { code: -32_700, message: "Invalid JSON." } }) };
    const reading = readingCommand(command);
    // Written again, because Chromium might read a message differently, for example with two methods.
    if (reading !== undefined) return this.#rewritten(reading);
    const isFull = this.#heldMessages >= maxHeldMessages || this.#heldBytes + message.length > maxHeldBytes;
    if (this.#pause.refuses || isFull) return { answer: refusalOf(command) };
    return { later: this.#hold(command, message.length) };
  };

  #rewritten(command: CdpCommand): GuardVerdict {
    const text = JSON.stringify(command);
    const verdict = this.#guard(Buffer.from(text));
    return verdict === "pass" ? { replace: text } : verdict;
  }

  async #hold(command: CdpCommand, bytes: number): Promise<{ readonly replace: string } | { readonly answer: string }> {
    this.#heldMessages += 1;
    this.#heldBytes += bytes;
    try {
      await this.#pause.whenOver();
    } finally {
      this.#heldMessages -= 1;
      this.#heldBytes -= bytes;
    }
    const verdict = this.#rewritten(command);
    if (typeof verdict === "string") return { answer: refusalOf(command) };
    if ("later" in verdict) return verdict.later;
    return "answerAndClose" in verdict ? { answer: verdict.answerAndClose } : verdict;
  }
}

function refusalOf({ id, sessionId }: CdpCommand): string {
  return JSON.stringify({ id, error: { code: errorCode, message: handoffMessage }, sessionId });
}

function parse(message: Buffer): CdpCommand | undefined {
  try {
    const value: unknown = JSON.parse(message.toString());
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
