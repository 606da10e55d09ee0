import type { Flow, FlowExpectation, FlowFallback, FlowStep, FlowTarget } from "@shoal/schemas";
import { soleParameter } from "../flow-content.ts";
import { slugOf } from "../slug.ts";
import { flowComment } from "./flow-file.ts";
import type { Dialect, Names } from "./dialect.ts";
import { playwrightKey } from "./playwright-key.ts";

/** Roles of outlines that `getByRole` knows. */
const ariaRoles: ReadonlySet<string> = new Set(
  (
    "alert alertdialog article banner button cell checkbox columnheader combobox complementary contentinfo dialog document form " +
    "grid gridcell group heading img link list listbox listitem main menu menubar menuitem menuitemcheckbox menuitemradio meter " +
    "navigation option progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider " +
    "spinbutton status switch tab table tablist tabpanel textbox toolbar tree treegrid treeitem"
  ).split(" "),
);

/** The flow as a Playwright test in a language. */
export function playwrightFile(flow: Flow, dialect: Dialect): string {
  const writer = new TestWriter(flow, dialect);
  return `${dialect.file(flow, { names: writer.names, lines: writer.lines() })}\n${flowComment(dialect.sign, flow)}`;
}

class TestWriter {
  readonly names: Names;
  readonly #dialect: Dialect;
  readonly #flow: Flow;

  constructor(flow: Flow, dialect: Dialect) {
    this.#flow = flow;
    this.#dialect = dialect;
    this.names = namesOf(flow);
  }

  lines(): string[] {
    const { start_url: startUrl, steps } = this.#flow;
    return [
      ...this.#dialogOf(steps[0]),
      this.#dialect.act("page", "goto", [this.#text(startUrl)]),
      ...steps.flatMap((step, index) => [...this.#dialogOf(steps[index + 1]), ...this.#step(step)]),
    ];
  }

  /** Playwright answers a dialog with a listener that exists before it opens. */
  #dialogOf(next: FlowStep | undefined): string[] {
    if (next?.action !== "answer_dialog") return [];
    return [this.#dialect.dialog(next.accept ?? true, next.text === undefined ? undefined : this.#text(next.text))];
  }

  #step(step: FlowStep): string[] {
    return [...this.#action(step), ...step.expect.map((one) => this.#expectation(one))];
  }

  #action(step: FlowStep): string[] {
    const { act, literal, options } = this.#dialect;
    const on = step.target === undefined ? undefined : this.#locator(step.target);
    switch (step.action) {
      case "click":
        return [act(on, "click", options({ button: step.button, clickCount: step.click_count }))];
      case "fill": {
        const filled = act(on, "fill", [this.#typed(step)]);
        return step.submit === true ? [filled, act(on, "press", [literal("Enter")])] : [filled];
      }
      case "check":
        return [act(on, "setChecked", [literal(step.accept ?? true)])];
      case "select":
        return [act(on, "selectOption", [`[${(step.values ?? []).map((value) => this.#text(value)).join(", ")}]`])];
      case "press":
        return (step.keys ?? []).flatMap((chord) => this.#press(on, chord));
      case "hover":
        return [act(on, "hover", [])];
      case "scroll":
        if (on !== undefined && step.delta_x === undefined && step.delta_y === undefined)
          return [act(on, "scrollIntoViewIfNeeded", [])];
        return [
          ...(on === undefined ? [] : [act(on, "hover", [])]),
          act("page.mouse", "wheel", [literal(step.delta_x ?? 0), literal(step.delta_y ?? 0)]),
        ];
      case "navigate":
        return [act("page", "goto", [this.#text(step.url ?? "")])];
      case "back":
        return [act("page", "goBack", [])];
      case "forward":
        return [act("page", "goForward", [])];
      case "reload":
        return [act("page", "reload", [])];
      case "open_tab":
        return [
          this.#dialect.openTab,
          ...(step.url === undefined ? [] : [act("page", "goto", [this.#text(step.url)])]),
        ];
      case "close_tab":
        return this.#dialect.closeTab;
      case "answer_dialog":
      case "expect":
        return [];
    }
  }

  #press(on: string | undefined, chord: string): string[] {
    const { act, literal } = this.#dialect;
    const key = playwrightKey(chord);
    if ("press" in key) return [act(on ?? "page.keyboard", "press", [literal(key.press)])];
    return [
      ...(on === undefined ? [] : [act(on, "focus", [])]),
      act("page.keyboard", "insertText", [literal(key.text)]),
    ];
  }

  #typed({ secret, text = "" }: FlowStep): string {
    if (secret !== undefined) return this.#dialect.parameter(this.names.secrets.get(secretKey(secret)) ?? "");
    return this.#text(text);
  }

  #expectation({ element, state = "visible", text, url }: FlowExpectation): string {
    const { matches, expect, methods } = this.#dialect;
    if (url !== undefined)
      return url.includes("*")
        ? expect("page", "url", [matches(url.split("*").map((part) => this.#pattern(part)))])
        : expect("page", "url", [this.#text(url)]);
    const on =
      element === undefined
        ? `page.${methods.getByText}(${this.#text(text ?? "")}).first${methods.firstCall}`
        : this.#locator({ ...element, fallbacks: [] });
    return expect(on, state, []);
  }

  #locator({ fallbacks, name, role, within }: FlowTarget): string {
    const { methods } = this.#dialect;
    if (name !== undefined && role !== undefined && ariaRoles.has(role)) {
      const own = `${methods.getByRole}(${this.#dialect.literal(role)}, ${this.#dialect.named(this.#text(name))})`;
      return `${within === undefined ? "page" : this.#around(within, own)}.${own}`;
    }
    const [first] = fallbacks;
    if (first !== undefined) return this.#fallback(first, role);
    const own = `${methods.getByText}(${this.#text(name ?? "")})`;
    return `${within === undefined ? "page" : this.#around(within, own)}.${own}`;
  }

  /** A part without a role is the innermost element with the text and the element. */
  #around({ name, role }: NonNullable<FlowTarget["within"]>, own: string): string {
    if (role !== "generic") return this.#place("page", role, name);
    const { around, methods } = this.#dialect;
    return `page.locator("*").filter(${around(this.#text(name), `page.${own}`)}).last${methods.firstCall}`;
  }

  #place(on: string, role: string, name: string): string {
    const { literal, methods } = this.#dialect;
    const place = ariaRoles.has(role) ? role : "group";
    return `${on}.${methods.getByRole}(${literal(place)}).filter(${this.#dialect.containing(this.#text(name))})`;
  }

  #fallback({ by, value }: FlowFallback, role: string | undefined): string {
    const { literal, methods } = this.#dialect;
    const text = this.#text(value);
    switch (by) {
      case "label":
        return `page.${methods.getByLabel}(${text})`;
      case "placeholder":
        return `page.${methods.getByPlaceholder}(${text})`;
      case "css":
        return `page.locator(${text})`;
      case "test_id": {
        const quoted = JSON.stringify(value);
        const ids = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];
        return `page.locator(${this.#text(ids.map((id) => `[${id}=${quoted}]`).join(", "))})`;
      }
      case "near":
        return `${this.#place("page", "row", value)}.${methods.getByRole}(${literal(role ?? "button")})`;
    }
  }

  #text(text: string): string {
    const sole = soleParameter(text);
    const name = sole === undefined ? undefined : this.names.parameters.get(sole)?.property;
    return name === undefined ? this.#dialect.text(text, this.names) : this.#dialect.parameter(name);
  }

  /** A part of a regular expression. */
  #pattern(part: string): string {
    return this.#dialect.escaped(this.#dialect.text(part, this.names));
  }
}

export function secretKey({ credential, field }: { readonly credential: string; readonly field: string }): string {
  return JSON.stringify([credential, field]);
}

/** Names of parameters, and of values of credentials, in the program and its environment. */
function namesOf({ parameters, steps }: Flow): Names {
  const used = new Set<string>();
  const free = (wanted: string): string => {
    const base = slugOf(wanted) || "secret";
    for (let count = 1; ; count++) {
      const name = count === 1 ? base : `${base}_${String(count)}`;
      if (used.has(name)) continue;
      used.add(name);
      return name;
    }
  };
  const named = new Map(parameters.map((one) => [one.name, { ...one, property: free(one.name) }]));
  const secrets = new Map<string, string>();
  for (const { secret } of steps)
    if (secret !== undefined && !secrets.has(secretKey(secret)))
      secrets.set(secretKey(secret), free(`${secret.credential}_${secret.field}`));
  return { parameters: named, secrets };
}
