import { anySignal } from "@shoal/primitives";
import { instanceControl, type PageAct, type PageActResult, type SettledPage, type SettlePage } from "@shoal/instance";
import { callInstance, type Requestable, textOfInstance } from "./call-instance.ts";

const callMs = 30_000;

/** The visible page of an instance: its outline, and input for it. Calls reject like {@link callInstance}. */
export class FrontPage {
  readonly #instance: Requestable;
  readonly #signal: AbortSignal | undefined;

  constructor(instance: Requestable, signal?: AbortSignal) {
    this.#instance = instance;
    this.#signal = signal;
  }

  /** The JSON of an outline, within the bounds of its endpoint. It is neither parsed nor checked here. */
  outlineText(): Promise<string> {
    return textOfInstance(this.#instance, instanceControl.outlinePage, { signal: this.#deadline() });
  }

  act(act: PageAct): Promise<PageActResult> {
    return callInstance(this.#instance, instanceControl.actOnPage, { body: act, signal: this.#deadline() });
  }

  settle(wishes: SettlePage): Promise<SettledPage> {
    return callInstance(this.#instance, instanceControl.settlePage, { body: wishes, signal: this.#deadline() });
  }

  /** Stops following the page. */
  async release(): Promise<void> {
    await callInstance(this.#instance, instanceControl.releasePage, { signal: this.#deadline() });
  }

  #deadline(): AbortSignal {
    const deadline = AbortSignal.timeout(callMs);
    return this.#signal === undefined ? deadline : anySignal([this.#signal, deadline]);
  }
}
