import { type ActResult, FlowTarget } from "@shoal/schemas";
import { maxRecordedActs, maxRecordedText, type RecordedAct, type RecordedActs } from "../../../../protocol/flow.ts";
import { parseChord } from "../../../computer/chord.ts";
import type { Act } from "../act-fields.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import { type Fingerprint, fingerprintFunction, receivesKeysFunction } from "./fingerprint.ts";

/** Of all remembered actions together. */
const maxCharacters = 1_000_000;
const maxFallbackCharacters = 300;
const maxNameCharacters = 1000;

/** Fields of actions that flows do not have. */
const otherFields = ["to", "paths", "hold_keys"] as const;

/** An element that an action found: its name is that of outlines, if an outline or a search knows it. */
export interface FoundElement {
  readonly element: ElementHandle;
  readonly describe: () => Promise<{ readonly role: string; readonly name: string } | undefined>;
  /** Of the page, which may have been loading when the action began. */
  readonly pageUrl?: () => Promise<string | undefined>;
}

/** Remembers the latest actions of the session in memory, so that a flow is made of them afterwards. */
export class ActLog {
  readonly #acts: { readonly act: RecordedAct; readonly size: number }[] = [];
  #size = 0;
  #forgotten = 0;

  /** @param options.isHidden - it types a value that a flow cannot name. */
  begin(act: Act, { isHidden = false }: { readonly isHidden?: boolean } = {}): ActRecording {
    const { secret: _, ...others } = act;
    return new ActRecording(isHidden ? others : act, (recorded) => {
      this.#add(recorded);
    });
  }

  /** Adds an action that was not one of `browsers.act`. */
  add(done: DoneAct): void {
    this.#add(recordOf(done));
  }

  read(): RecordedActs {
    return { acts: this.#acts.map(({ act }) => act), forgotten: this.#forgotten };
  }

  #add(act: RecordedAct): void {
    const size = JSON.stringify(act).length;
    this.#acts.push({ act, size });
    this.#size += size;
    while (this.#acts.length > maxRecordedActs || this.#size > maxCharacters) {
      this.#size -= this.#acts.shift()?.size ?? 0;
      this.#forgotten++;
    }
  }
}

/** One action. Only a successful one is remembered. */
export class ActRecording {
  readonly #act: Act;
  readonly #add: (act: RecordedAct) => void;
  #beforeUrl = "";
  #found: Promise<FoundFacts | undefined> | undefined;
  #element: ElementHandle | undefined;
  #receivesKeys: Promise<boolean | undefined> | undefined;

  constructor(act: Act, add: (act: RecordedAct) => void) {
    this.#act = act;
    this.#add = add;
  }

  startsAt(url: string): void {
    this.#beforeUrl = url;
  }

  /** Reads the element before the input, whose commands come later. Waiting looks at one element many times. */
  found(found: FoundElement): void {
    if (this.#act.type === "wait_for" && this.#found !== undefined) return;
    this.#element = found.element;
    const facts = factsOf(found, this.#act.type === "fill");
    this.#found = Promise.all([facts, this.#readUrl(found)]).then(
      ([read]) => read,
      () => undefined,
    );
  }

  /** The empty page before the first one has no elements. */
  async #readUrl({ pageUrl }: FoundElement): Promise<void> {
    if (this.#beforeUrl === "" || this.#beforeUrl === "about:blank")
      this.#beforeUrl = (await pageUrl?.().catch(() => undefined)) ?? this.#beforeUrl;
  }

  /** The input has had its effects: looks at the element with the other reports. */
  ends(): void {
    if (this.#act.type === "press") this.#receivesKeys ??= this.#askKeys();
  }

  async done(result: ActResult): Promise<void> {
    const facts = await this.#found;
    const done = {
      at: Date.now(),
      act: this.#act,
      beforeUrl: this.#beforeUrl,
      pageUrl: result.url,
      navigated: result.navigated || result.new_tabs.length > 0,
      facts,
      typed: await this.#typed(facts, result),
    };
    this.#add(recordOf(done));
  }

  /** Texts for a field for secrets, for an unknown field, or for a dialog are not remembered. */
  async #typed(facts: FoundFacts | undefined, { element }: ActResult): Promise<Partial<RecordedAct>> {
    const { keys = [], text, type, values } = this.#act;
    if (type === "press") return (await this.#keepsKeys(keys, facts)) ? { keys: [...keys] } : { is_hidden: true };
    if (values !== undefined) return { values: [...values] };
    if (text === undefined) return type === "fill" && this.#act.secret === undefined ? { is_hidden: true } : {};
    if (type === "wait_for") return { text: text.slice(0, maxRecordedText) };
    const isSeen =
      type === "fill" && facts?.isSensitive === false && (element === undefined || element.value !== undefined);
    return isSeen && text.length <= maxRecordedText ? { text } : { is_hidden: true };
  }

  /** Characters must come first, and the element must still have the focus afterwards: otherwise another one could have them. */
  async #keepsKeys(keys: readonly string[], facts: FoundFacts | undefined): Promise<boolean> {
    const last = keys.findLastIndex(typesText);
    if (last === -1) return true;
    if (facts?.isSensitive !== false || !keys.slice(0, last).every(typesText)) return false;
    return (await (this.#receivesKeys ?? this.#askKeys())) === true;
  }

  async #askKeys(): Promise<boolean | undefined> {
    return this.#element?.call<boolean>(receivesKeysFunction).catch(() => false);
  }
}

/** Whether a chord types a character: `a`, `Shift+a`, `KP_1`, but not `Ctrl+a` or `Enter`. */
function typesText(chord: string): boolean {
  const keys = parseChord(chord, [], "body.keys");
  const shortcut = keys.findIndex(({ key }) => key === "Control" || key === "Alt" || key === "Meta");
  return keys.slice(0, shortcut === -1 ? undefined : shortcut).some(({ text = "\r" }) => text !== "\r");
}

/** The description of an element that the memory keeps. */
export interface FoundFacts extends Fingerprint {
  readonly role: string;
  readonly name: string;
}

/** An action with its effects. */
export interface DoneAct {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly act: Act;
  readonly beforeUrl: string;
  readonly pageUrl: string;
  readonly navigated: boolean;
  readonly facts: FoundFacts | undefined;
  /** Texts, keys and options that may be remembered. */
  readonly typed: Partial<RecordedAct>;
}

function recordOf({ act, at, beforeUrl, facts, navigated, pageUrl, typed }: DoneAct): RecordedAct {
  const { accept, button, click_count, delta_x, delta_y, secret, state, submit, type, url } = act;
  const other: string[] = otherFields.filter((field) => act[field] !== undefined);
  if (type === "fill" && (act.text?.length ?? 0) > maxRecordedText) other.push("text");
  return {
    at,
    action: type,
    before_url: beforeUrl,
    page_url: pageUrl,
    navigated,
    ...targetOf(act, facts),
    ...typed,
    ...given({ accept, button, click_count, delta_x, delta_y, secret, state, submit, url }),
    ...(other.length > 0 && { other_fields: other }),
  };
}

/** Reads it before the input, which may end the document. */
export async function factsOf({ describe, element }: FoundElement, isFill: boolean): Promise<FoundFacts | undefined> {
  const [print, described] = await Promise.all([
    element.call<Fingerprint>(fingerprintFunction, maxFallbackCharacters, isFill),
    describe(),
  ]);
  if (print === undefined || described === undefined) return undefined;
  // It comes from the page.
  const fallbacks = print.fallbacks
    .filter(({ value }) => value.length <= maxFallbackCharacters && !value.includes("\0"))
    .slice(0, 8);
  return { ...print, fallbacks, role: described.role, name: described.name };
}

function targetOf({ name, role, selector }: Act, facts: FoundFacts | undefined): { readonly target?: FlowTarget } {
  const fallbacks = [...(facts?.fallbacks ?? [])];
  const isKnown = fallbacks.some(({ by, value }) => by === "css" && value === selector);
  if (selector !== undefined && selector.length <= maxNameCharacters && !isKnown && !isPositional(selector))
    fallbacks.splice(7, Infinity, { by: "css", value: selector });
  const foundRole = facts?.role ?? role ?? "";
  const foundName = (facts?.name ?? name ?? "").slice(0, maxNameCharacters);
  if (foundRole === "" || (foundName === "" && fallbacks.length === 0)) return {};
  const target = FlowTarget.safeParse({
    role: foundRole.slice(0, 64),
    ...(foundName !== "" && { name: foundName }),
    ...(facts?.within && { within: facts.within }),
    fallbacks,
  });
  // Texts of pages may be unfit, such as those with NUL characters.
  return target.success ? { target: target.data } : {};
}

/** A position alone says nothing in another version of the page. */
function isPositional(selector: string): boolean {
  return /:(?:nth|first|last|only)-/.test(selector);
}

function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
