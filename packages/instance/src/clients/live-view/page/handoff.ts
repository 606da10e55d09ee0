/** As `/state` of the service sends it. */
interface ShownHandoff {
  readonly status: string;
  readonly message: string;
  readonly expires_at: string;
}

export interface HandoffPage {
  /** Reads the state again: another page may have taken control. */
  readonly refresh: () => void;
  /** Title for the end of the connection, after the person has returned control here. */
  readonly endTitle: () => string | undefined;
}

const everyMs = 1_000;
const noPage: HandoffPage = { refresh: () => undefined, endTitle: () => undefined };

function part<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${id}.`);
  return found;
}

/** Shows the task of a person, if the page was opened by the link of a handoff. */
export function followHandoff(address: string, say: (text: string) => void): HandoffPage {
  if (!/\.h[0-9a-z]+\.[\w-]+$/.test(address)) return noPage;
  const page = new TaskBar(address, say);
  page.refresh();
  return page;
}

class TaskBar implements HandoffPage {
  readonly #address: string;
  readonly #say: (text: string) => void;
  readonly #bar = part("handoff", HTMLElement);
  readonly #take = part("handoff-take", HTMLButtonElement);
  readonly #form = part("handoff-return", HTMLFormElement);
  readonly #done = part("handoff-done", HTMLButtonElement);
  readonly #note = part("handoff-note", HTMLTextAreaElement);
  #expiresAtMs = 0;
  #isReturned = false;

  constructor(address: string, say: (text: string) => void) {
    this.#address = address;
    this.#say = say;
    this.#take.onclick = () => {
      void this.#press(this.#take, "take", undefined, () => {
        this.#showTaken(true);
        this.#note.focus();
      });
    };
    this.#form.onsubmit = (event) => {
      event.preventDefault();
      // The connection may end before the answer arrives.
      this.#isReturned = true;
      void this.#press(this.#done, "release", this.#note.value, () => {
        this.#bar.hidden = true;
      }).then((succeeded) => {
        this.#isReturned = succeeded;
      });
    };
    setInterval(() => {
      this.#showDeadline();
    }, everyMs);
  }

  readonly refresh = (): void => {
    void this.#read();
  };

  readonly endTitle = (): string | undefined => (this.#isReturned ? "Control was returned" : undefined);

  async #read(): Promise<void> {
    try {
      const answer = await fetch(`${this.#address}/state`, { cache: "no-store", referrerPolicy: "no-referrer" });
      const { handoff } = (await answer.json()) as { readonly handoff?: ShownHandoff };
      if (handoff === undefined) return;
      part("handoff-message", HTMLElement).textContent = handoff.message;
      this.#expiresAtMs = Date.parse(handoff.expires_at);
      this.#showTaken(handoff.status === "taken");
      this.#showDeadline();
      this.#bar.hidden = this.#isReturned;
    } catch {
      // The connection of the live view reports the outage.
    }
  }

  #showTaken(isTaken: boolean): void {
    this.#take.hidden = isTaken;
    this.#form.hidden = !isTaken;
  }

  #showDeadline(): void {
    const minutes = Math.ceil((this.#expiresAtMs - Date.now()) / 60_000);
    const clock = new Date(this.#expiresAtMs).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const left = minutes <= 0 ? "The time has run out." : `Until ${clock}, ${String(minutes)} min left.`;
    const shown = part("handoff-deadline", HTMLElement);
    // Screen readers would repeat equal texts.
    if (shown.textContent !== left) shown.textContent = left;
  }

  async #press(
    button: HTMLButtonElement,
    action: string,
    body: string | undefined,
    then: () => void,
  ): Promise<boolean> {
    button.disabled = true;
    try {
      const answer = await fetch(`${this.#address}/handoff/${action}`, {
        method: "POST",
        referrerPolicy: "no-referrer",
        ...(body !== undefined && { body }),
      });
      if (answer.ok) then();
      else this.#say(((await answer.json()) as { readonly message?: string }).message ?? "The request failed.");
      return answer.ok;
    } catch {
      this.#say("The service cannot be reached. Try again.");
      return false;
    } finally {
      button.disabled = false;
    }
  }
}
