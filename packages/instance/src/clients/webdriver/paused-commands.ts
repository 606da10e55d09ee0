import { type AutomationPause, handoffMessage } from "../../pause/automation-pause.ts";
import { type CdpCommand, readingBidiCommands, unchangedDecision } from "../../pause/reading-methods.ts";
import type { CdpGuard } from "../cdp/guard.ts";
import type { BidiCommand } from "./bidi-session.ts";

/** Commands of one client that wait for the end of a handoff. */
const maxHeldCommands = 200;
const maxHeldCharacters = 8 * 2 ** 20;

type Pause = Pick<AutomationPause, "isActive" | "refuses" | "whenOver">;

/** Holds or refuses the commands of one client while a person controls the session. Reading commands pass. */
export class PausedCommands {
  readonly #pause: Pause;
  #held = 0;
  #heldCharacters = 0;

  constructor(pause: Pause) {
    this.#pause = pause;
  }

  /** Calls `pass` now or after the handoff, in order. @returns an error for the client instead. */
  take({ id, method }: Pick<BidiCommand, "id" | "method">, characters: number, pass: () => void): object | undefined {
    if (!this.#pause.isActive || readingBidiCommands.has(method)) {
      pass();
      return undefined;
    }
    const isFull = this.#held >= maxHeldCommands || this.#heldCharacters + characters > maxHeldCharacters;
    if (this.#pause.refuses || isFull) return { type: "error", id, error: "unknown error", message: handoffMessage };
    this.#held += 1;
    this.#heldCharacters += characters;
    void this.#pause.whenOver().then(() => {
      this.#held -= 1;
      this.#heldCharacters -= characters;
      pass();
    });
    return undefined;
  }
}

/**
 * Stops running `input.performActions`, and leaves dialogs to the person: the mapper would answer them. Intercepted
 * requests continue unchanged.
 */
export function createMapperGuard(guard: CdpGuard, pause: Pick<Pause, "isActive">): CdpGuard {
  return (message) => {
    if (!pause.isActive) return guard(message);
    // Written by the mapper.
    const command = JSON.parse(message.toString()) as CdpCommand;
    const { id, method, sessionId } = command;
    if (method === "Page.handleJavaScriptDialog") return { answer: JSON.stringify({ id, sessionId, result: {} }) };
    if (String(method).startsWith("Input."))
      return { answer: JSON.stringify({ id, sessionId, error: { code: -32_000, message: handoffMessage } }) };
    const decision = unchangedDecision(command);
    return decision === undefined ? guard(message) : { replace: JSON.stringify(decision) };
  };
}
