import type { ManagedAuthStateEvent, SubmitLogin } from "@shoal/schemas";
import { ApiError } from "@shoal/transport";

/** Answers the questions of a login. */
export interface Answerer {
  /**
   * Returns the answer to a question; `undefined` if another answerer or person has to answer.
   * @param signal - aborted when the question is over.
   */
  answer(state: ManagedAuthStateEvent, signal: AbortSignal): Promise<SubmitLogin | undefined>;
}

/** One open question. The login may withdraw it at any time, for instance when it is answered on the hosted page. */
export class Asking {
  readonly interactionId: string | undefined;
  /** Rejects when a person interrupts. */
  readonly done: Promise<"answered">;
  readonly #over = new AbortController();

  constructor(
    state: ManagedAuthStateEvent,
    answerer: Answerer,
    { say, submit }: { readonly say: (line: string) => void; readonly submit: (answer: SubmitLogin) => Promise<void> },
  ) {
    this.interactionId = state.interaction_id;
    this.done = this.#ask(state, answerer, async (answer) => {
      try {
        await submit(answer);
        return true;
      } catch (error) {
        if (!ApiError.isInstance(error) || error.status !== 422) throw error;
        say(error.message);
        return false;
      }
    });
  }

  /** Withdraws the question. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.done;
  }

  async #ask(
    state: ManagedAuthStateEvent,
    answerer: Answerer,
    submit: (answer: SubmitLogin) => Promise<boolean>,
  ): Promise<"answered"> {
    const { signal } = this.#over;
    for (;;) {
      const answer = await answerer.answer(state, signal);
      if (signal.aborted || answer === undefined) return "answered";
      const { interaction_id } = state;
      if (await submit({ ...(interaction_id !== undefined && { interaction_id }), ...answer })) return "answered";
    }
  }
}
