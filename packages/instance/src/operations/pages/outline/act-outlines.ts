import pTimeout from "p-timeout";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { outlineForRecord } from "./observe.ts";

/** Of each outline; tokens of some languages have many characters. */
const maxTokens = 8_000;
const maxCharacters = 40_000;
/** Longest wait for a busy page, in milliseconds. */
const maxMs = 5_000;

interface OutlineFields {
  readonly outline_before?: string;
  readonly outline_after?: string;
}

/** Outlines of the page before and after an action, for the telemetry. A page that cannot be read now has none. */
export class ActOutlines {
  readonly #pages: SessionPages;
  readonly #isWanted: boolean;
  #spentMs = 0;
  #fields: OutlineFields = {};

  constructor(pages: SessionPages, isWanted: boolean) {
    this.#pages = pages;
    this.#isWanted = isWanted;
  }

  get fields(): OutlineFields {
    return this.#fields;
  }

  /** Milliseconds that the outlines took until now. */
  get spentMs(): number {
    return this.#spentMs;
  }

  async before(tab: OpenTab): Promise<void> {
    const outline = await this.#take(() => Promise.resolve(tab));
    if (outline !== undefined) this.#fields = { outline_before: outline };
  }

  /** Of the tab in front: an action may open or close one. */
  async after(): Promise<void> {
    const outline = await this.#take(async () => (await this.#pages.tabsWith()).tab);
    if (outline !== undefined) this.#fields = { ...this.#fields, outline_after: outline };
  }

  async #take(tab: () => Promise<OpenTab>): Promise<string | undefined> {
    if (!this.#isWanted) return undefined;
    const beganMs = performance.now();
    try {
      const outline = (async () => outlineForRecord(this.#pages, await tab(), maxTokens))();
      const text = await pTimeout(outline, { milliseconds: maxMs, message: false });
      return text?.slice(0, maxCharacters).toWellFormed();
    } catch {
      return undefined;
    } finally {
      this.#spentMs += performance.now() - beganMs;
    }
  }
}
