import { actionFields, type ActionType } from "@shoal/contract/refusals";
import type { RecordedAct } from "@shoal/instance";
import { type FlowExpectation, type FlowParameter, FlowStep, flowActions, type SkippedAct } from "@shoal/schemas";
import { type FlowContent, hasPlaceholder, maxContentBytes } from "../flow-content.ts";
import { slugOf } from "../slug.ts";
import { patternOf, withoutUserInfo } from "./url-pattern.ts";

export interface RecordedContent {
  /** Without steps, no flow can be made. */
  readonly content: FlowContent | undefined;
  readonly skipped: readonly SkippedAct[];
}

export type RecordedValues = "parameters" | "literals";

const maxSteps = 200;
const maxParameters = 50;
const maxExpectations = 10;
const maxAddress = 8192;
/** A parameter without its default, and the commas around a step. */
const besidesStepBytes = 256;
const reasons = {
  files: "Files belong to one session.",
  hidden: "It typed characters without a known field. Use fill with a field.",
  keys: "A flow holds no keys during an action.",
  limits: "A flow has smaller limits for one of its fields.",
  long: "A flow has at most 200 steps, 50 parameters and 262,144 bytes.",
  other: "A flow cannot repeat it.",
  placeholder: "A text of it, such as {{name}}, would be a parameter of the flow.",
  tabs: "A flow acts in the tab in front. Use open_tab or a click that opens one.",
  target: "The element has no role and name, and nothing else identifies it.",
} as const;

/** Makes steps of the actions of a session. */
export function recordedContent(acts: readonly RecordedAct[], values: RecordedValues): RecordedContent {
  const flow = new RecordedSteps(values);
  for (const act of acts) flow.add(act);
  return flow.read();
}

class RecordedSteps {
  readonly #values: RecordedValues;
  readonly #steps: FlowStep[] = [];
  readonly #parameters: FlowParameter[] = [];
  readonly #skipped: SkippedAct[] = [];
  #startUrl: string | undefined;
  #bytes = 0;

  constructor(values: RecordedValues) {
    this.#values = values;
  }

  read(): RecordedContent {
    const [first] = this.#steps;
    const content =
      first === undefined || this.#startUrl === undefined
        ? undefined
        : { start_url: this.#startUrl, parameters: this.#parameters, steps: this.#steps };
    return { content, skipped: this.#skipped };
  }

  add(act: RecordedAct): void {
    const reason = act.action === "navigate" && this.#startUrl === undefined ? this.#start(act) : this.#next(act);
    if (reason !== undefined) this.#skipped.push({ action: act.action, reason });
  }

  /** The address of the request: one after redirects may have values for one use. */
  #start({ page_url: reached, url = reached }: RecordedAct): string | undefined {
    const start = startAddress(/^(?:[a-z][a-z\d+.-]*:\/\/|about:|data:)/i.test(url) ? url : reached);
    if (start === undefined) return reasons.limits;
    this.#startUrl = start;
    this.#bytes = Buffer.byteLength(JSON.stringify(start)) + besidesStepBytes;
    const [expected] = expectedUrl(reached);
    return expected === undefined || expected.url === patternOf(start) ? undefined : this.#expect(expected);
  }

  /** Returns why it is not in the flow. */
  #next(act: RecordedAct): string | undefined {
    const problem = this.#problemOf(act);
    if (problem !== undefined) return problem;
    if (this.#startUrl === undefined) {
      const start = this.#start({
        ...act,
        page_url: act.before_url === "" ? "about:blank" : act.before_url,
        url: undefined,
      });
      if (start !== undefined) return start;
    }
    return act.action === "wait_for" ? this.#addWait(act) : this.#addStep(act);
  }

  #problemOf(act: RecordedAct): string | undefined {
    const { action, is_hidden: isHidden = false, other_fields: others = [], target } = act;
    if (action === "upload") return reasons.files;
    if (action === "select_tab") return reasons.tabs;
    if (others.includes("text")) return reasons.limits;
    if (others.includes("hold_keys")) return reasons.keys;
    if (action !== "wait_for" && !(flowActions as readonly string[]).includes(action)) return reasons.other;
    if (isHidden && action === "press") return reasons.hidden;
    const needed = actionFields[action as ActionType].target === "required" || act.state !== undefined;
    if (needed && target === undefined && act.text === undefined) return reasons.target;
    return this.#steps.length >= maxSteps || this.#parameters.length >= maxParameters ? reasons.long : undefined;
  }

  #addWait({ state, target, text, url }: RecordedAct): string | undefined {
    const states = state === undefined ? {} : { state: state as NonNullable<FlowExpectation["state"]> };
    const { name, role } = target ?? {};
    const expectation: FlowExpectation | undefined =
      url !== undefined
        ? { url }
        : text !== undefined && text !== ""
          ? { text: text.slice(0, 1000), ...states }
          : role === undefined || name === undefined
            ? undefined
            : { element: { role, name }, ...states };
    return expectation === undefined ? reasons.target : this.#expect(expectation);
  }

  #expect(expectation: FlowExpectation): string | undefined {
    const last = this.#steps.at(-1);
    const step = FlowStep.safeParse({ action: "expect", expect: [expectation] });
    const problem = step.success ? this.#problemOfStep(step.data) : reasons.limits;
    if (problem !== undefined || !step.success) return problem;
    if (last !== undefined && last.expect.length < maxExpectations) last.expect.push(...step.data.expect);
    else this.#steps.push(step.data);
    return undefined;
  }

  #addStep(act: RecordedAct): string | undefined {
    const { action, button, click_count, delta_x, delta_y, keys, secret, submit, accept, target, url, values } = act;
    const isTyped = action === "fill" && secret === undefined;
    const isAnswer = action === "answer_dialog" && act.is_hidden === true;
    const step = FlowStep.safeParse({
      ...{ action, button, click_count, delta_x, delta_y, keys, secret, submit, accept, target, values },
      ...(url !== undefined && { url: withoutUserInfo(url) }),
      expect: act.navigated && action !== "close_tab" ? expectedUrl(act.page_url) : [],
    });
    const problem = step.success ? this.#problemOfStep(step.data, act.text) : reasons.limits;
    if (problem !== undefined || !step.success) return problem;
    // The texts of dialogs are not remembered, because a dialog may ask for a secret.
    if (isTyped || isAnswer)
      step.data.text = isTyped ? this.#textOf(act) : `{{${this.#parameter(["answer"], { secret: false })}}}`;
    this.#steps.push(step.data);
    return undefined;
  }

  /** Counts the bytes of a step that fits. */
  #problemOfStep(step: FlowStep, text = ""): string | undefined {
    if (hasPlaceholder(step)) return reasons.placeholder;
    const bytes = this.#bytes + Buffer.byteLength(JSON.stringify([step, text])) + besidesStepBytes;
    if (bytes > maxContentBytes) return reasons.long;
    this.#bytes = bytes;
    return undefined;
  }

  #textOf({ is_hidden: isHidden = false, target, text = "" }: RecordedAct): string {
    const names = [target?.name, ...(target?.fallbacks ?? []).map(({ value }) => value)];
    if (!isHidden && text === "") return "";
    // A literal must not read as a parameter.
    if (!isHidden && this.#values === "literals" && !text.includes("{{")) return text;
    const known = { secret: isHidden, ...(!isHidden && { default: text }) };
    return `{{${this.#parameter(names, known)}}}`;
  }

  /** The same field with the same text is the same parameter. */
  #parameter(names: readonly (string | undefined)[], known: Omit<FlowParameter, "name">): string {
    const base =
      names.map((name) => slugOf(name ?? "")).find((slug) => slug !== "") ?? (known.secret ? "secret" : "value");
    for (let count = 1; ; count++) {
      const name = count === 1 ? base : `${base}_${String(count)}`;
      const present = this.#parameters.find((one) => one.name === name);
      if (present === undefined) this.#parameters.push({ name, ...known });
      if (present === undefined || (present.secret === known.secret && present.default === known.default)) return name;
    }
  }
}

/** `undefined` for an address that is too long. */
function startAddress(url: string): string | undefined {
  // It must not read as a parameter.
  const address = withoutUserInfo(url).replaceAll("{{", "%7B%7B");
  return address.length > maxAddress ? undefined : address;
}

function expectedUrl(url: string): { readonly url: string }[] {
  const pattern = patternOf(url);
  return pattern === undefined || pattern.length > maxAddress ? [] : [{ url: pattern }];
}
