import type {
  ActOnPage,
  ActResult,
  ObservePage,
  PageObservation,
  PageTarget,
  PageText,
  PrintPage,
  ReadPage,
  ScreenshotPage,
  StoredSecret,
} from "@shoal/schemas";
import type { CallOptions, Download } from "@shoal/transport";
import type { SessionCalls } from "./parts.ts";
import { SessionTools } from "./session-tools.ts";

/** An element: a reference of an outline (`e12`), a CSS selector, or a {@link PageTarget}. */
export type Target = string | PageTarget;
/** CSS pixels to the right and down. */
export type Distance = Pick<ActOnPage, "delta_x" | "delta_y">;

type ActionType = ActOnPage["type"];
/** Fields of an action without its kind and target; `signal` and other options of the call. */
export type ActionOptions<Field extends keyof ActOnPage = never> = Pick<
  ActOnPage,
  Field | "tab" | "timeout_ms" | "observe"
> & { readonly call?: CallOptions };

/**
 * The pages of one session. Each action waits until its element is ready, uses real input events, and returns the
 * effects: see `browsers.act`, also for errors.
 */
export class SessionPages {
  readonly #calls: SessionCalls;
  readonly #id: string;
  constructor(calls: SessionCalls, id: string) {
    this.#calls = calls;
    this.#id = id;
  }

  /** Tools that pages register for agents. */
  get tools(): SessionTools {
    return new SessionTools(this.#calls.tools, this.#id);
  }

  /** Outlines a page, with references for actions. */
  observe(options: ObservePage = {}, call?: CallOptions): Promise<PageObservation> {
    return this.#calls.observe(this.#id, options, call);
  }
  /** Acts on a page. The other methods are shorter forms. */
  act(action: ActOnPage, call?: CallOptions): Promise<ActResult> {
    return this.#calls.act(this.#id, action, call);
  }
  /** Opens an address. @throws {ApiError} if the page cannot be reached. */
  goto(url: string, options?: ActionOptions): Promise<ActResult> {
    return this.#on("navigate", { url }, options);
  }
  /** Goes back in the history of the tab. */
  back(options?: ActionOptions): Promise<ActResult> {
    return this.#on("back", {}, options);
  }
  /** Goes forward in the history of the tab. */
  forward(options?: ActionOptions): Promise<ActResult> {
    return this.#on("forward", {}, options);
  }
  /** Loads the page again. */
  reload(options?: ActionOptions): Promise<ActResult> {
    return this.#on("reload", {}, options);
  }
  /** Clicks an element. */
  click(target: Target, options?: ActionOptions<"button" | "click_count" | "hold_keys">): Promise<ActResult> {
    return this.#on("click", targetOf(target), options);
  }
  /** Replaces the value of a field by a text, or by a value of a stored credential, which the service types. */
  fill(
    target: Target,
    value: string | { readonly secret: StoredSecret },
    options?: ActionOptions<"submit">,
  ): Promise<ActResult> {
    const filled = typeof value === "string" ? { text: value } : { secret: value.secret };
    return this.#on("fill", { ...targetOf(target), ...filled }, options);
  }
  /** Checks a checkbox, or unchecks it with `accept: false`. */
  check(target: Target, options?: ActionOptions<"accept">): Promise<ActResult> {
    return this.#on("check", targetOf(target), options);
  }
  /** Selects options by label or value. */
  select(target: Target, values: string | string[], options?: ActionOptions): Promise<ActResult> {
    return this.#on("select", { ...targetOf(target), values: listOf(values) }, options);
  }
  /** Presses keys or chords, such as `Enter` or `Control+A`, in the focused element. */
  press(keys: string | string[], options?: ActionOptions): Promise<ActResult> {
    return this.#on("press", { keys: listOf(keys) }, options);
  }
  /** Moves the pointer to an element. */
  hover(target: Target, options?: ActionOptions<"hold_keys">): Promise<ActResult> {
    return this.#on("hover", targetOf(target), options);
  }
  /** Drags an element to another one, or by CSS pixels. */
  drag(target: Target, to: Target | Distance, options?: ActionOptions<"hold_keys">): Promise<ActResult> {
    return this.#on("drag", { ...targetOf(target), ...(isDistance(to) ? to : { to: targetOf(to) }) }, options);
  }
  /** Chooses files of the session for a file field, by their absolute paths. */
  upload(target: Target, paths: string | string[], options?: ActionOptions): Promise<ActResult> {
    return this.#on("upload", { ...targetOf(target), paths: listOf(paths) }, options);
  }
  /** Scrolls an element into view, or the page by CSS pixels. */
  scroll(to: Target | Distance, options?: ActionOptions): Promise<ActResult> {
    return this.#on("scroll", typeof to === "string" ? targetOf(to) : to, options);
  }
  /** Waits for a text, an address or an element. */
  waitFor(wanted: PageTarget & Pick<ActOnPage, "text" | "url" | "state">, options?: ActionOptions): Promise<ActResult> {
    return this.#on("wait_for", wanted, options);
  }
  /** Opens a tab and brings it to the front. */
  openTab(url = "about:blank", options?: ActionOptions): Promise<ActResult> {
    return this.#on("open_tab", { url }, options);
  }
  /** Brings a tab to the front. */
  selectTab(tab: string, options?: ActionOptions): Promise<ActResult> {
    return this.#on("select_tab", {}, { ...options, tab });
  }
  /** Closes a tab. */
  closeTab(tab: string, options?: ActionOptions): Promise<ActResult> {
    return this.#on("close_tab", {}, { ...options, tab });
  }
  /** Answers an open dialog. `text` answers a `prompt`. */
  answerDialog(accept: boolean, text?: string, options?: ActionOptions): Promise<ActResult> {
    return this.#on("answer_dialog", { accept, ...(text !== undefined && { text }) }, options);
  }
  /** Reads a page as Markdown. */
  read(options: ReadPage = {}, call?: CallOptions): Promise<PageText> {
    return this.#calls.read(this.#id, options, call);
  }
  /** Takes a picture of a page: PNG unless `format` is set. */
  async screenshot(options: ScreenshotPage = {}, call?: CallOptions): Promise<Uint8Array<ArrayBuffer>> {
    return bytesOf(await this.#calls.screenshot(this.#id, options, call));
  }
  /** Prints a page as PDF. */
  async pdf(options: PrintPage = {}, call?: CallOptions): Promise<Uint8Array<ArrayBuffer>> {
    return bytesOf(await this.#calls.pdf(this.#id, options, call));
  }

  #on(
    type: ActionType,
    fields: Omit<ActOnPage, "type">,
    { call, ...options }: ActionOptions<keyof ActOnPage> | ActionOptions = {},
  ): Promise<ActResult> {
    return this.act({ ...fields, ...options, type }, call);
  }
}

function isDistance(to: Target | Distance): to is Distance {
  return typeof to === "object" && ("delta_x" in to || "delta_y" in to);
}

function targetOf(target: Target): PageTarget {
  if (typeof target !== "string") return target;
  return /^e\d+$/.test(target) ? { ref: target } : { selector: target };
}

function listOf(values: string | string[]): string[] {
  return typeof values === "string" ? [values] : values;
}

async function bytesOf({ stream }: Download): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
