import type { PersonActs } from "../../operations/pages/person/person-acts.ts";
import { InputsOnTheWay } from "../../operations/pages/person/inputs-on-the-way.ts";
import { isAct, type PersonInput } from "../../operations/pages/person/person-input.ts";
import { addressOf } from "./typed-address.ts";
import type { ViewerMessage } from "./messages.ts";

/** How much input waits for a page; further input is dropped, but for released keys and buttons. */
const maxWaiting = 200;
/** A page may take this long to describe an element. Afterwards, acts are not described until it answers. */
const maxDescribingMs = 60_000;

/** A person may leave a page that does not answer. */
const leavesPage: ReadonlySet<ViewerMessage["type"]> = new Set(["dialog", "history", "navigate", "open_tab", "tab"]);

/** Sends a message to the page. @returns a promise that resolves when the page has handled it. */
type Pass = () => Promise<unknown>;

interface Waiting {
  readonly targetId: string | undefined;
  readonly pass: Pass;
}

/** Describes what viewers do before pages get it, in the order of the messages. */
export class NotedInput {
  readonly #load: () => Promise<PersonActs>;
  #acts: Promise<PersonActs> | undefined;
  #described = Promise.resolve();
  readonly #waiting = new Set<Waiting>();
  readonly #onTheWay = new InputsOnTheWay();
  #isLate = false;

  /** @param load - called once, by the first action. */
  constructor(load: () => Promise<PersonActs>) {
    this.#load = load;
  }

  /** Calls `pass` when the page may get the message: at once if nothing is to be described. */
  pass(message: Exclude<ViewerMessage, { type: "drawn" }>, targetId: string | undefined, pass: Pass): void {
    const input = message.type === "navigate" ? { ...message, url: addressOf(message.url) ?? "" } : message;
    const isNoted =
      !this.#isLate && targetId !== undefined && isAct(input) && !(input.type === "navigate" && input.url === "");
    const entry = { pass, targetId };
    if (this.#waiting.size === 0 && !isNoted) {
      this.#give(entry);
      return;
    }
    const isRelease = (message.type === "mouse" || message.type === "key") && message.action === "up";
    if (this.#waiting.size >= maxWaiting && !isRelease) return;
    this.#waiting.add(entry);
    if (leavesPage.has(message.type)) this.#hurry();
    this.#described = this.#described
      .then(() => (isNoted ? this.#describe(input, targetId) : undefined))
      .then(() => {
        if (this.#waiting.delete(entry)) this.#give(entry);
      });
  }

  /** Passes what waits. Call it when a viewer leaves: pages get what it has done, as if nothing were described. */
  flush(): void {
    this.#hurry();
    for (const entry of this.#waiting) this.#give(entry);
    this.#waiting.clear();
  }

  /** Ends the present action. Call it when a viewer has left. */
  settle(): void {
    void this.#acts?.then(
      (acts) => acts.settle(),
      () => undefined,
    );
  }

  /** Never rejects: a person goes on without being recorded. */
  async #describe(input: PersonInput, targetId: string): Promise<void> {
    if (this.#isLate) return;
    const describing = (this.#acts ??= this.#load())
      .then((acts) => acts.before(input, targetId, this.#onTheWay))
      .catch(() => undefined);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#isLate = true;
      void describing.then(() => {
        this.#isLate = false;
      });
      late.resolve();
    }, maxDescribingMs);
    await Promise.race([describing, late.promise]);
    clearTimeout(timer);
  }

  #give({ pass, targetId }: Waiting): void {
    const handled = pass();
    if (targetId !== undefined) this.#onTheWay.add(targetId, handled);
  }

  #hurry(): void {
    void this.#acts?.then(
      (acts) => {
        acts.hurry();
      },
      () => undefined,
    );
  }
}
