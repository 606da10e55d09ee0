import { element, required, withName } from "./element.ts";
import type { View } from "./question.ts";
import { texts } from "./texts.ts";

/** The parts of the document that change. */
export class Stage {
  readonly #main = required("main");
  readonly #heading = required("heading");
  readonly #view = required("view");
  readonly #status = required("status");
  readonly #problem = required("problem");
  readonly #offline = required("offline");
  #key = "";

  /** Names the site above every view. */
  name(site: string, profile: string): void {
    required("site").replaceChildren(...withName(texts.title, site));
    required("profile").replaceChildren(...withName(texts.profile, profile));
    document.title = texts.title(site);
  }

  /** @param key - a view with the same key stays, with everything that the person has entered. */
  show(key: string, make: () => View): void {
    if (key === this.#key) return;
    const isFirst = this.#key === "";
    this.#key = key;
    const { content, focus, isWide = false, title } = make();
    this.#heading.textContent = title;
    this.#view.replaceChildren(...content);
    this.#main.classList.toggle("wide", isWide);
    this.#status.textContent = title;
    this.problem("");
    if (focus !== undefined) focus.focus();
    // At the start, the focus of the browser is right.
    else if (!isFirst) this.#heading.focus();
  }

  /** Shows the current view again, also with the same key. */
  forget(): void {
    this.#key = "forgotten";
  }

  problem(text: string): void {
    this.#problem.textContent = text;
    this.#problem.hidden = text === "";
  }

  offline(isOffline: boolean): void {
    this.#offline.textContent = isOffline ? texts.offline : "";
  }

  notes(...notes: readonly string[]): void {
    required("notes").replaceChildren(...notes.map((note) => element("p", { class: "note" }, note)));
  }
}
