import type {
  ActOnPage,
  ActResult,
  Browser,
  BrowserTab,
  Handoff,
  PageObservation,
  PageText,
  PageToolResult,
  PageTools,
} from "@shoal/schemas";
import { ApiError } from "@shoal/transport";
import { existsSync } from "node:fs";
import { basename, parse } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { call } from "../../connection/call.ts";
import { reach } from "../../connection/reach.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import type { CommandRequest, CommandSpec, Run } from "../../core/types.ts";
import { download } from "../../operations/download.ts";
import { actLines, outlineLines } from "../../output/act-lines.ts";
import { printable, printableLines } from "../../output/format.ts";
import { notify, printTable } from "../../output/output.ts";
import { printValue } from "../../output/print-result.ts";
import { CurrentSession, currentSessionId, namedSession, sessionEnded } from "../../connection/current-session.ts";
import { filledBy, millisecondsOf, numberOf, objectOf, refOf, targetOf } from "./page-arguments.ts";
import type { PageFlags } from "./page-flags.ts";

const answerDialog = "shoal dialog accept";
const uploads = "/home/shoal/Uploads";
const scrollPixels = 600;

/** Runs one page command on the current session. */
export class PageRun {
  readonly #specOf: (operationId: string) => CommandSpec;
  readonly #flags: PageFlags;
  readonly #run: Run;
  readonly #current: CurrentSession;

  constructor(specOf: (operationId: string) => CommandSpec, flags: PageFlags, run: Run) {
    this.#specOf = specOf;
    this.#flags = flags;
    this.#run = run;
    this.#current = new CurrentSession(run.env, reach(flags, run).baseUrl);
  }

  async run(name: string, args: readonly string[]): Promise<void> {
    const [first = "", second = ""] = args;
    const flags = this.#flags;
    switch (name) {
      case "open":
        return this.#open(first);
      case "snapshot":
        return this.#snapshot(args[0]);
      case "click":
        return this.#act({ type: "click", ...targetOf(first), ...this.#clickFlags() });
      case "fill":
        return this.#act({
          type: "fill",
          ...targetOf(first),
          ...filledBy(args[1] === undefined ? undefined : await this.#typed(second), flags.secret),
          ...(flags.submit === true && { submit: true }),
        });
      case "select":
        return this.#act({ type: "select", ...targetOf(first), values: args.slice(1) });
      case "check":
        return this.#act({ type: "check", ...targetOf(first), accept: flags.off !== true });
      case "press":
        return this.#act({ type: "press", keys: [...args] });
      case "hover":
        return this.#act({ type: "hover", ...targetOf(first) });
      case "drag":
        return this.#act({ type: "drag", ...targetOf(first), to: targetOf(second) });
      case "upload":
        return this.#upload(first, args.slice(1));
      case "scroll":
        return this.#act({ type: "scroll", ...this.#scrolled(args[0]) });
      case "wait":
        return this.#act({ type: "wait_for", ...this.#awaited(args[0]) });
      case "read":
        return this.#read(args[0]);
      case "screenshot":
        return this.#screenshot(args[0]);
      case "pdf":
        return this.#save("browsers.pdf", {}, "page.pdf");
      case "back":
      case "forward":
      case "reload":
        return this.#act({ type: name });
      case "tabs":
        return this.#tabs(args[0]);
      case "dialog":
        return this.#dialog(first, args[1]);
      case "handoff":
        return this.#handOver(first);
      case "tools":
        return this.#tools();
      case "tool":
        return this.#tool(first, args[1]);
      case "close":
        return this.#close();
      default:
        throw new Error(`The command ${name} has no code.`);
    }
  }

  async #open(address: string): Promise<void> {
    // The session completes an address without a scheme, because only it can try https and http.
    const url = address;
    const type = this.#flags.tab === true ? "open_tab" : "navigate";
    const id = this.#flags.new === true ? undefined : this.#found();
    if (id !== undefined) {
      const result = await this.#call<ActResult>("browsers.act", id, { type, url, ...this.#waiting() }).catch(
        (error: unknown) => {
          if (!this.#isOver(error)) throw error;
          // Without a name, the terminal's own session was meant, which may be replaced.
          if (this.#named() !== undefined) throw this.#ended(id);
          this.#current.clear();
          return undefined;
        },
      );
      if (result !== undefined) return this.#report(result);
    }
    const created = await this.#create();
    this.#current.write(created);
    notify(this.#run.terminal, this.#flags, `Started session ${created}.`);
    await this.#report(
      await this.#call<ActResult>("browsers.act", created, { type: "navigate", url, ...this.#waiting() }),
    );
  }

  async #create(): Promise<string> {
    const { headful, profile, stealth, timeout } = this.#flags;
    const timeoutSeconds = Math.ceil(millisecondsOf(typeof timeout === "string" ? timeout : "10m", "--timeout") / 1000);
    const body = {
      timeout_seconds: timeoutSeconds,
      ...(typeof profile === "string" && { profile: { name: profile, save_changes: true } }),
      ...(headful === true && { headless: false }),
      ...(stealth === true && { stealth: true }),
    };
    const spec = this.#specOf("browsers.create");
    const { value } = await call(spec, { params: {}, query: {}, body }, this.#flags, this.#run);
    // The contract's type.
    return (value as Browser).session_id;
  }

  async #snapshot(element: string | undefined): Promise<void> {
    const body = {
      ...(this.#flags.diff === true && { diff: true }),
      ...this.#tokens(),
      ...(element !== undefined && { ref: refOf(element) }),
    };
    const found = await this.#callCurrent<PageObservation>("browsers.observe", body);
    if (this.#flags.output !== "table") return printValue(this.#run.terminal, found, this.#flags.output);
    this.#run.terminal.stdout.write(`${outlineLines(found, answerDialog).join("\n")}\n`);
  }

  async #read(element: string | undefined): Promise<void> {
    const { all, offset } = this.#flags;
    const target = element === undefined ? {} : targetOf(element);
    const body = {
      ...target,
      ...(all === true && { content: "all" }),
      ...this.#tokens(),
      ...(typeof offset === "string" && { offset: numberOf(offset, "--offset") }),
    };
    const found = await this.#callCurrent<PageText>("browsers.read", body);
    if (this.#flags.output !== "table") return printValue(this.#run.terminal, found, this.#flags.output);
    this.#run.terminal.stdout.write(printableLines(`${found.markdown}\n`));
    if (found.next_offset !== undefined)
      notify(this.#run.terminal, this.#flags, `More: shoal read --offset ${String(found.next_offset)}`);
  }

  async #screenshot(element: string | undefined): Promise<void> {
    const { fullPage, labels } = this.#flags;
    if (element !== undefined && /^[\w./-]+\.(?:png|jpe?g|webp)$/i.test(element))
      throw new UsageError(`The argument of screenshot is an element. To choose the file, pass --file ${element}.`);
    const body = {
      ...(element !== undefined && targetOf(element)),
      ...(fullPage === true && { full_page: true }),
      ...(labels === true && { labels: true }),
    };
    await this.#save("browsers.screenshot", body, "page.png");
  }

  async #save(operationId: string, body: Readonly<Record<string, unknown>>, name: string): Promise<void> {
    const file = typeof this.#flags.file === "string" ? this.#flags.file : freeName(name);
    await this.#whileThere((id) =>
      download(
        { spec: this.#specOf(operationId), request: { params: { id }, query: {}, body }, label: name },
        { ...this.#flags, file, label: name },
        this.#run,
      ),
    );
  }

  async #upload(element: string, paths: readonly string[]): Promise<void> {
    await this.#whileThere(async (id) => {
      const { uploadFiles } = await import("../browsers/files.ts");
      const spec = this.#specOf("browsers.fs.upload");
      await uploadFiles(spec, { id, files: paths }, { ...this.#flags, quiet: true, to: uploads }, this.#run);
    });
    await this.#act({
      type: "upload",
      ...targetOf(element),
      paths: paths.map((path) => `${uploads}/${basename(path)}`),
    });
  }

  async #tabs(tab: string | undefined): Promise<void> {
    if (tab !== undefined) return this.#act({ type: this.#flags.close === true ? "close_tab" : "select_tab", tab });
    const { tabs } = await this.#callCurrent<PageObservation>("browsers.observe", { max_tokens: 100 });
    if (this.#flags.output !== "table") return printValue(this.#run.terminal, tabs, this.#flags.output);
    printTabs(this.#run, tabs);
  }

  async #tools(): Promise<void> {
    const { left_out: leftOut, tools } = await this.#callCurrent<PageTools>("browsers.tools.list", {});
    if (this.#flags.output !== "table") return printValue(this.#run.terminal, tools, this.#flags.output);
    printTable(this.#run.terminal, tools, [
      ["NAME", "name"],
      ["ORIGIN", "origin"],
      ["DESCRIPTION", "description"],
    ]);
    if (leftOut > 0) notify(this.#run.terminal, this.#flags, `${String(leftOut)} tools left out.`);
  }

  async #tool(name: string, given: string | undefined): Promise<void> {
    const { origin, wait } = this.#flags;
    const found = await this.#callCurrent<PageToolResult>("browsers.tools.call", {
      name,
      arguments: objectOf(given === undefined ? "{}" : await this.#typed(given)),
      ...(typeof origin === "string" && { origin }),
      ...(typeof wait === "string" && { timeout_seconds: Math.ceil(millisecondsOf(wait, "--wait") / 1000) }),
    });
    const { result } = found;
    if (this.#flags.output !== "table") return printValue(this.#run.terminal, found, this.#flags.output);
    if (result === undefined) return;
    const text = typeof result === "string" ? result : JSON.stringify(result, undefined, 2);
    this.#run.terminal.stdout.write(printableLines(`${text}\n`));
  }

  async #dialog(answer: string, text: string | undefined): Promise<void> {
    if (answer !== "accept" && answer !== "dismiss") throw new UsageError("Answer the dialog with accept or dismiss.");
    await this.#act({ type: "answer_dialog", accept: answer === "accept", ...(text !== undefined && { text }) });
  }

  async #handOver(message: string): Promise<void> {
    const { label, refuse, timeout } = this.#flags;
    const { handOver } = await import("./hand-over.ts");
    const body = {
      message,
      ...(typeof label === "string" && { label }),
      ...(refuse === true && { on_automation: "refuse" }),
      ...(typeof timeout === "string" && { timeout_seconds: Math.ceil(millisecondsOf(timeout, "--timeout") / 1000) }),
    };
    await this.#whileThere((id) => {
      const ask = async (operationId: string, request: Partial<CommandRequest>, run = this.#run): Promise<Handoff> => {
        const whole = { params: { id }, query: {}, body: undefined, ...request };
        const { value } = await call(this.#specOf(operationId), whole, this.#flags, run);
        // The contract's type.
        return value as Handoff;
      };
      const calls = {
        request: (given: Readonly<Record<string, unknown>>) => ask("browsers.handoff.request", { body: given }),
        get: (query: Readonly<Record<string, unknown>>) => ask("browsers.handoff.get", { query }),
        cancel: (signal: AbortSignal) => ask("browsers.handoff.cancel", {}, { ...this.#run, signal }),
      };
      return handOver(calls, body, { flags: this.#flags, run: this.#run });
    });
  }

  async #close(): Promise<void> {
    const id = this.#required();
    const spec = this.#specOf("browsers.delete");
    try {
      await call(spec, { params: { id_or_name: id }, query: {}, body: undefined }, this.#flags, this.#run);
      notify(this.#run.terminal, this.#flags, `Ended session ${printable(id)}.`);
    } catch (error) {
      if (!this.#isOver(error)) throw error;
      notify(this.#run.terminal, this.#flags, `Session ${printable(id)} has ended before.`);
    }
    if (id === this.#current.read()) this.#current.clear();
  }

  async #act(action: ActOnPage): Promise<void> {
    await this.#report(await this.#callCurrent<ActResult>("browsers.act", { ...action, ...this.#waiting() }));
  }

  async #report(result: ActResult): Promise<void> {
    if (this.#flags.output !== "table") return printValue(this.#run.terminal, result, this.#flags.output);
    this.#run.terminal.stdout.write(`${actLines(result, answerDialog).join("\n")}\n`);
  }

  #callCurrent<T>(operationId: string, body: Readonly<Record<string, unknown>>): Promise<T> {
    return this.#whileThere((id) => this.#call<T>(operationId, id, body));
  }

  async #call<T>(operationId: string, id: string, body: Readonly<Record<string, unknown>>): Promise<T> {
    const request = { params: { id }, query: {}, body };
    const { value } = await call(this.#specOf(operationId), request, this.#flags, this.#run);
    // The contract's type.
    return value as T;
  }

  async #whileThere<T>(use: (id: string) => Promise<T>): Promise<T> {
    const id = this.#required();
    try {
      return await use(id);
    } catch (error) {
      if (!this.#isOver(error)) throw error;
      throw this.#ended(id);
    }
  }

  #ended(id: string): ExitError {
    if (id === this.#current.read()) this.#current.clear();
    return sessionEnded(id, this.#named());
  }

  #named() {
    return namedSession(this.#flags.session, this.#run);
  }

  #found(): string | undefined {
    return this.#named()?.name ?? this.#current.read();
  }

  #required(): string {
    const { session } = this.#flags;
    return currentSessionId(session, this.#flags, this.#run);
  }

  /** Unknown elements and tabs also answer 404, with another code or with the name of their field. */
  #isOver(error: unknown): boolean {
    return ApiError.isInstance(error) && error.code === "not_found" && error.fields.field === undefined;
  }

  #waiting(): Pick<ActOnPage, "timeout_ms"> {
    const { wait } = this.#flags;
    return typeof wait === "string" ? { timeout_ms: millisecondsOf(wait, "--wait") } : {};
  }

  #tokens(): { max_tokens?: number } {
    const { maxTokens } = this.#flags;
    return typeof maxTokens === "string" ? { max_tokens: numberOf(maxTokens, "--max-tokens") } : {};
  }

  #clickFlags(): Pick<ActOnPage, "button" | "click_count"> {
    const { button, count } = this.#flags;
    return {
      // The service checks the value.
      ...(typeof button === "string" && { button: button as NonNullable<ActOnPage["button"]> }),
      ...(typeof count === "string" && { click_count: numberOf(count, "--count") }),
    };
  }

  #scrolled(element: string | undefined): Partial<ActOnPage> {
    const { down, up } = this.#flags;
    const given =
      typeof down === "string" ? numberOf(down, "--down") : typeof up === "string" ? -numberOf(up, "--up") : undefined;
    const pixels = given ?? (element === undefined ? scrollPixels : undefined);
    return { ...(element !== undefined && targetOf(element)), ...(pixels !== undefined && { delta_y: pixels }) };
  }

  #awaited(text: string | undefined): Partial<ActOnPage> {
    const { element, hidden, url } = this.#flags;
    if (text === undefined && typeof element !== "string" && typeof url !== "string")
      throw new UsageError("Name what to wait for: a text, --element or --url.");
    return {
      ...(text !== undefined && { text }),
      ...(typeof element === "string" && targetOf(element)),
      ...(typeof url === "string" && { url }),
      ...(hidden === true && { state: "hidden" }),
    };
  }

  async #typed(text: string): Promise<string> {
    return text === "-" ? (await textOf(this.#run.terminal.stdin)).replace(/\r?\n$/, "") : text;
  }
}

function printTabs({ terminal }: Run, tabs: readonly BrowserTab[]): void {
  printTable(terminal, tabs, [
    ["TAB", "id"],
    ["ACTIVE", "active"],
    ["TITLE", "title"],
    ["URL", "url"],
  ]);
}

/** @returns the name, or with a number the first name that no file here has: `page-2.png`. */
function freeName(name: string): string {
  const { ext, name: stem } = parse(name);
  let free = name;
  for (let number = 2; existsSync(free); number += 1) free = `${stem}-${String(number)}${ext}`;
  return free;
}
