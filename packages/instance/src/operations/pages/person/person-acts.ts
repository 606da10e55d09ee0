import type { TypedSecrets } from "../../../secrets/typed-secrets.ts";
import { log } from "../../../system/log.ts";
import type { Act, ActType } from "../act/act-fields.ts";
import { ActRun } from "../act/act-run.ts";
import { describeActed } from "../act/element/describe.ts";
import { type ActLog, factsOf, type FoundFacts } from "../act/record/act-log.ts";
import type { CommandSender, FollowedPage } from "../follow/followed-page.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { type ElementState, stateFunction } from "./element-state.ts";
import type { InputsOnTheWay } from "./inputs-on-the-way.ts";
import { elementAt, focusedElement, hasFocusFunction, isSame, type SeenElement } from "./look.ts";
import { Navigations, type PageMoment } from "./navigations.ts";
import { chordOf, type KeyInput, type MouseInput, namesOf, type PersonInput, types } from "./person-input.ts";

interface PersonActsParts {
  readonly pages: SessionPages;
  readonly recorded: ActLog;
  readonly secrets: Pick<TypedSecrets, "inEvent">;
}

/** An action whose effects are not known yet. */
interface OpenAct extends Partial<SeenElement> {
  act: Act;
  readonly at: number;
  readonly before: PageMoment;
  readonly facts?: FoundFacts | undefined;
  readonly isHidden?: boolean;
}

/** A field that a person clicked, or types in. */
interface UsedField extends SeenElement {
  readonly facts: FoundFacts | undefined;
  readonly click: OpenAct | undefined;
  isTyped: boolean;
}

interface Pressed extends OpenAct {
  readonly x: number;
  readonly y: number;
}

/** Longest wait for a page before its input, in milliseconds. Until it answers, it could not have handled the input either. */
const lookMs = 60_000;
/** An action of a program waits this long for a page that does not answer, in milliseconds. */
const settleMs = 20_000;
/** The pointer may tremble this much during a click, in CSS pixels. */
const clickPixels = 8;
const maxKeys = 20;
const scrollKeys: ReadonlySet<string> = new Set(
  "ArrowUp ArrowDown ArrowLeft ArrowRight PageUp PageDown Home End".split(" "),
);

/**
 * Remembers what a person does in a live view, as actions of `browsers.act`. Each element is described before its input. An
 * action is remembered when the next one begins, because its effects are known then; a field when it is left.
 */
export class PersonActs {
  readonly #parts: PersonActsParts;
  readonly #navigations: Navigations;
  /** Pages that did not answer in time: their input does not wait again until they do. */
  readonly #silent = new WeakSet<FollowedPage>();
  /** End the looks that have no answer yet. */
  readonly #looks = new Set<() => void>();
  #onTheWay: InputsOnTheWay | undefined;
  #turn: Promise<void> = Promise.resolve();
  #tab: OpenTab | undefined;
  #field: UsedField | undefined;
  #pressed: Pressed | undefined;
  #last: OpenAct | undefined;

  constructor(parts: PersonActsParts) {
    this.#parts = parts;
    this.#navigations = new Navigations(parts.pages);
  }

  /**
   * Call it before the page gets the input. Never rejects.
   * @param targetId - the page that the person sees.
   * @param onTheWay - all input of persons: what they do is seen when it is handled.
   */
  before(input: PersonInput, targetId: string, onTheWay: InputsOnTheWay): Promise<void> {
    this.#onTheWay = onTheWay;
    return this.#inTurn(() => this.#note(input, targetId));
  }

  /** Input that waits for a page passes at once. Call it before the person leaves the page, which may never answer. */
  hurry(): void {
    for (const giveUp of this.#looks) giveUp();
  }

  /** Ends the action that waits for its effects, or gives up. Never rejects. */
  async settle(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.hurry();
      late.resolve();
    }, settleMs);
    const settled = this.#inTurn(async () => {
      await this.#leaveField();
      await this.#settleLast();
    });
    await Promise.race([settled, late.promise]);
    clearTimeout(timer);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work).catch((error: unknown) => {
      // Most often, the page or the browser has ended.
      log("warn", "an action of a person is not remembered", { err: String(error) });
    });
    return this.#turn;
  }

  async #note(input: PersonInput, targetId: string): Promise<void> {
    const tab = await this.#tabOf(targetId);
    if (tab === undefined) return;
    const isRelease = input.type === "mouse" && input.action === "up";
    // Earlier input may open a dialog. A page with a dialog gets no other input.
    if (input.type !== "dialog" && !isRelease) await this.#look(tab, () => Promise.resolve(true));
    if (tab.page.session.dialog !== undefined && input.type !== "dialog") return;
    switch (input.type) {
      case "mouse":
        await (input.action === "down" ? this.#down(input, tab) : this.#up(input, tab));
        return;
      case "key":
        await this.#key(input, tab);
        return;
      case "text":
      case "compose":
      case "paste":
        await this.#text(tab);
        return;
      case "dialog":
        await this.#begin("answer_dialog", tab, { accept: input.accept }, { isHidden: input.text !== undefined });
        return;
      case "navigate":
        await this.#begin("navigate", tab, { url: input.url });
        return;
      case "history":
        if (input.action !== "stop") await this.#begin(input.action, tab);
        return;
      case "tab":
        if (input.action === "show" && input.id === targetId) return;
        await this.#begin(input.action === "close" && input.id === targetId ? "close_tab" : "select_tab", tab);
        return;
      case "open_tab":
        await this.#begin("open_tab", tab);
        return;
      default:
        return;
    }
  }

  /** The element that gets keys: most often the field that the person types in. */
  async #focused(tab: OpenTab): Promise<SeenElement | undefined> {
    const field = this.#field;
    const isSameField =
      field !== undefined &&
      (await this.#look(tab, (sender) => field.element.of(sender).call<boolean>(hasFocusFunction))) === true;
    return isSameField ? { element: field.element, state: field.state } : this.#look(tab, focusedElement);
  }

  async #tabOf(targetId: string): Promise<OpenTab | undefined> {
    const { pages } = this.#parts;
    const known = this.#tab;
    if (known?.targetId === targetId && !known.page.session.ended) return known;
    const { listed } = await pages.targets();
    const id = listed.find((one) => one.targetId === targetId)?.id;
    this.#tab = id === undefined ? undefined : await pages.tab(id);
    return this.#tab;
  }

  /** Looks at what the page has made of its input so far. Returns `undefined` if the page does not answer. */
  #look<T>(tab: OpenTab, look: (sender: CommandSender) => Promise<T | undefined>): Promise<T | undefined> {
    return this.#lookNow(tab, async (sender) => {
      await this.#onTheWay?.handled(sender);
      return look(sender);
    });
  }

  async #lookNow<T>(
    { page }: OpenTab,
    look: (sender: CommandSender) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    if (this.#silent.has(page)) return undefined;
    const run = new ActRun(page, { signal: new AbortController().signal, timeoutMs: lookMs });
    const answer = look(run).catch(() => undefined);
    const late = Promise.withResolvers<undefined>();
    const giveUp = () => {
      this.#silent.add(page);
      late.resolve(undefined);
    };
    this.#looks.add(giveUp);
    void answer.then(() => {
      this.#looks.delete(giveUp);
      this.#silent.delete(page);
    });
    return Promise.race([answer, late.promise]);
  }

  #factsOf(tab: OpenTab, { element, state }: SeenElement): Promise<FoundFacts | undefined> {
    const { pages } = this.#parts;
    const known = pages.references.at(element.address);
    return this.#look(tab, (sender) => {
      const looked = element.of(sender);
      const describe = async () => known ?? (await describeActed(pages, tab.id, looked));
      return factsOf({ element: looked, describe }, state.kind === "text");
    });
  }

  async #down({ button, clicks, modifiers, x, y }: MouseInput, tab: OpenTab): Promise<void> {
    this.#pressed = undefined;
    if (button !== "left" && button !== "right" && button !== "middle") return;
    const seen = await this.#look(tab, (sender) => elementAt(sender, { x, y }));
    if (this.#field !== undefined && isSame(this.#field.element, seen?.element)) return;
    await this.#leaveField();
    const last = this.#last;
    if (clicks > 1 && clicks <= 3 && last?.act.type === "click" && isSame(last.element, seen?.element)) {
      this.#last = undefined;
      this.#pressed = { ...last, act: { ...last.act, click_count: clicks }, x, y };
      return;
    }
    await this.#settleLast();
    const held = namesOf(modifiers);
    const act = actOf("click", { ...(button !== "left" && { button }), ...(held.length > 0 && { hold_keys: held }) });
    const facts = seen && (await this.#factsOf(tab, seen));
    const click = { ...seen, act, at: Date.now(), before: await this.#navigations.now(tab), facts };
    if (seen !== undefined && button === "left" && held.length === 0 && isField(seen))
      this.#field = { ...seen, facts, click, isTyped: false };
    else this.#pressed = { ...click, x, y };
  }

  async #up({ x, y }: MouseInput, tab: OpenTab): Promise<void> {
    const pressed = this.#pressed;
    this.#pressed = undefined;
    if (pressed === undefined) return;
    const isStill = Math.abs(x - pressed.x) <= clickPixels && Math.abs(y - pressed.y) <= clickPixels;
    // A page may handle the moves of a drag only at its end.
    const seen = isStill ? pressed : await this.#lookNow(tab, (sender) => elementAt(sender, { x, y }));
    const isClick = isStill || isSame(pressed.element, seen?.element);
    this.#last = isClick ? pressed : { ...pressed, act: actOf("drag") };
  }

  async #key(input: KeyInput, tab: OpenTab): Promise<void> {
    const { key, modifiers } = input;
    if (key === "Tab" && namesOf(modifiers).every((name) => name === "Shift")) {
      await this.#leaveField();
      return;
    }
    const seen = await this.#focused(tab);
    if (seen !== undefined && isField(seen) && edits(input, seen.state)) {
      const isTyped = types(input) || key === "Backspace" || key === "Delete" || namesOf(modifiers).includes("Control");
      await this.#use(seen, tab, isTyped);
      return;
    }
    const isSubmit = key === "Enter" && modifiers === 0;
    const hasFilled = await this.#leaveField({ next: seen, submits: isSubmit });
    if (isSubmit && hasFilled) return;
    await this.#press(input, seen, tab);
  }

  async #press(input: KeyInput, seen: SeenElement | undefined, tab: OpenTab): Promise<void> {
    const kind = seen?.state.kind;
    const last = this.#last;
    if (kind === "page" && (scrollKeys.has(input.key) || input.key === " ")) return;
    if (seen !== undefined && kind === "toggle" && input.key === " ") {
      await this.#begin("click", tab, {}, { ...seen, facts: await this.#factsOf(tab, seen) });
      return;
    }
    const chord = chordOf(input);
    const facts = seen === undefined || kind === "page" ? undefined : await this.#factsOf(tab, seen);
    // Characters outside of fields may be a code that the page collects, or belong to a field that no script sees.
    const isUnknown = chord === undefined || seen === undefined || types(input);
    const isHidden = isUnknown || (kind !== "page" && facts === undefined);
    const isAgain = last?.act.type === "press" && last.isHidden === isHidden && isSame(last.element, seen?.element);
    if (isAgain && isHidden) return;
    const keys = last?.act.keys ?? [];
    if (isAgain && chord !== undefined && keys.length < maxKeys) last.act = { ...last.act, keys: [...keys, chord] };
    else await this.#begin("press", tab, { keys: [chord ?? "Escape"] }, { ...seen, facts, isHidden });
  }

  async #text(tab: OpenTab): Promise<void> {
    const seen = await this.#focused(tab);
    if (seen !== undefined && isField(seen)) {
      await this.#use(seen, tab, true);
      return;
    }
    await this.#leaveField({ next: seen });
    if (this.#last?.act.type === "press" && this.#last.isHidden === true) return;
    await this.#begin("press", tab, { keys: ["Escape"] }, { ...seen, isHidden: true });
  }

  async #use(seen: SeenElement, tab: OpenTab, isTyped: boolean): Promise<void> {
    if (!isSame(this.#field?.element, seen.element)) {
      await this.#leaveField();
      await this.#settleLast();
      this.#field = { ...seen, facts: await this.#factsOf(tab, seen), click: undefined, isTyped: false };
    }
    if (this.#field !== undefined && isTyped) this.#field.isTyped = true;
  }

  async #begin(
    type: ActType,
    tab: OpenTab,
    fields: Partial<Act> = {},
    known: Partial<SeenElement> & Pick<OpenAct, "facts" | "isHidden"> = {},
  ): Promise<void> {
    await this.#leaveField({ next: known.element && (known as SeenElement) });
    await this.#settleLast();
    this.#last = { ...known, act: actOf(type, fields), at: Date.now(), before: await this.#navigations.now(tab) };
  }

  /**
   * Remembers what the field contains now. A click in a field counts only if it changed nothing: it may have opened a list.
   * @returns whether the field has another value.
   */
  async #leaveField({
    next,
    submits = false,
  }: { readonly next?: SeenElement | undefined; readonly submits?: boolean } = {}): Promise<boolean> {
    const field = this.#field;
    this.#field = undefined;
    if (field === undefined) return false;
    const { click, element, facts, isTyped, state } = field;
    const tab = await this.#tabOf(element.sender.page.session.targetId);
    const now = tab && (await this.#look(tab, (sender) => element.of(sender).call<ElementState>(stateFunction)));
    const isChanged = now === undefined || now.isHidden || state.isHidden ? isTyped : valueOf(now) !== valueOf(state);
    if (!isChanged || tab === undefined) {
      await this.#settleLast();
      if (state.kind === "text" && !isSame(element, next?.element)) this.#last = click;
      return false;
    }
    await this.#settleLast();
    const isHidden = now === undefined || now.isHidden || state.isHidden || this.#isSecret(now.value);
    const act =
      state.kind === "list"
        ? actOf("select", { values: now === undefined ? [] : [...now.chosen] })
        : actOf("fill", { ...(!isHidden && { text: now.value }), ...(submits && { submit: true }) });
    const isLost = state.kind === "list" && now === undefined;
    const before = await this.#navigations.now(tab);
    this.#last = { element, state, act, at: Date.now(), before, facts: isLost ? undefined : facts, isHidden };
    return true;
  }

  #isSecret(text: string): boolean {
    return this.#parts.secrets.inEvent(text) !== text;
  }

  async #settleLast(): Promise<void> {
    const last = this.#last;
    this.#last = undefined;
    if (last === undefined) return;
    const { at, before, facts, isHidden = false } = last;
    const [after, act] = await Promise.all([this.#navigations.since(before), this.#checked(last)]);
    // As for agents: without knowledge of the field, its text is not remembered.
    const hides = isHidden || (act.type === "fill" && facts?.isSensitive !== false);
    const typed = hides ? { is_hidden: true } : typedBy(act);
    this.#parts.recorded.add({ at, act, beforeUrl: before.url, ...after, facts, typed });
  }

  /** A click on a checkbox becomes the state that it has now. */
  async #checked({ act, before, element, state }: OpenAct): Promise<Act> {
    if (act.type !== "click" || state?.kind !== "toggle" || element === undefined || act.hold_keys !== undefined)
      return act;
    const now = await this.#look(before.tab, (sender) => element.of(sender).call<ElementState>(stateFunction));
    const accept = now?.kind === "toggle" ? now.checked : state.isRadio || !state.checked;
    return accept === state.checked ? act : actOf("check", { accept });
  }
}

function actOf(type: ActType, fields: Partial<Act> = {}): Act {
  return { timeout_ms: 0, ...fields, type };
}

function typedBy({ keys, text, values }: Act) {
  return {
    ...(keys && { keys: [...keys] }),
    ...(text !== undefined && { text }),
    ...(values && { values: [...values] }),
  };
}

function isField({ state: { kind } }: SeenElement): boolean {
  return kind === "text" || kind === "list";
}

function valueOf({ chosen, value }: ElementState): string {
  return JSON.stringify([value, chosen]);
}

/** Whether a key changes the field, or the place in it, and nothing else. */
function edits({ key, modifiers }: KeyInput, { isChooser, isMultiline, kind }: ElementState): boolean {
  if (kind === "list") return key !== "Escape";
  if (key === "Enter") return isMultiline && (modifiers & 7) === 0;
  if (key === "ArrowUp" || key === "ArrowDown") return !isChooser;
  return key !== "Escape" && !/^F\d+$/.test(key);
}
