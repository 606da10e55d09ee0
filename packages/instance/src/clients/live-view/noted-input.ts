import type { PersonActs } from "../../operations/pages/person/person-acts.ts";
import { isAct } from "../../operations/pages/person/person-input.ts";
import { addressOf } from "./typed-address.ts";
import type { ViewerMessage } from "./messages.ts";

/** How much input waits for a page; further input is dropped, but for released keys and buttons. */
const maxWaiting = 200;

/** A person may leave a page that does not answer. */
const leavesPage: ReadonlySet<ViewerMessage["type"]> = new Set(["dialog", "history", "navigate", "open_tab", "tab"]);

/** Describes what viewers do before pages get it, in the order of the messages. */
export class NotedInput {
  readonly #load: () => Promise<PersonActs>;
  #acts: Promise<PersonActs> | undefined;
  #noted: Promise<void> | undefined;
  #waiting = 0;

  /** @param load - called once, by the first action. */
  constructor(load: () => Promise<PersonActs>) {
    this.#load = load;
  }

  /** Calls `pass` when the page may get the message: at once if nothing is to be described. */
  pass(message: Exclude<ViewerMessage, { type: "drawn" }>, targetId: string | undefined, pass: () => void): void {
    const input = message.type === "navigate" ? { ...message, url: addressOf(message.url) ?? "" } : message;
    const isNoted = targetId !== undefined && isAct(input) && !(input.type === "navigate" && input.url === "");
    if (this.#noted === undefined && !isNoted) {
      pass();
      return;
    }
    const isRelease = (message.type === "mouse" || message.type === "key") && message.action === "up";
    if (this.#waiting >= maxWaiting && !isRelease) return;
    this.#waiting++;
    if (leavesPage.has(message.type))
      void this.#acts?.then(
        (acts) => {
          acts.hurry();
        },
        () => undefined,
      );
    const acts = (this.#acts ??= this.#load());
    const earlier = this.#noted ?? Promise.resolve();
    const noted = earlier
      .then(async () => (isNoted ? (await acts).before(input, targetId) : undefined))
      // A person goes on without being recorded.
      .catch(() => undefined)
      .then(() => {
        this.#waiting--;
        if (this.#noted === noted) this.#noted = undefined;
        pass();
      });
    this.#noted = noted;
  }

  /** Call it when a viewer leaves. */
  settle(): void {
    void this.#acts?.then(
      (acts) => acts.settle(),
      () => undefined,
    );
  }
}
