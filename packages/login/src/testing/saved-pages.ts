import type { OutlineNode, PageAct, PageActResult, PageOutline, SettledPage } from "@shoal/instance";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LoginPage } from "../driver/login-page.ts";
import { readPage } from "../reading/read-page.ts";
import type { PageSight } from "../reading/read-sight.ts";

export function loadOutline(name: string): PageOutline {
  return JSON.parse(readFileSync(join(import.meta.dirname, `outlines/${name}.json`), "utf8")) as PageOutline;
}

/** A site of saved pages: the next one appears when a form of the present one is sent. */
export class SavedPages implements LoginPage {
  readonly acts: PageAct[] = [];
  readonly #outlines: PageOutline[];
  #filled = new Set<string>();
  #navigations: string[] = [];

  constructor(outlines: readonly PageOutline[]) {
    this.#outlines = [...outlines];
  }

  get #present(): PageOutline {
    const [present] = this.#outlines;
    if (present === undefined) throw new Error("The site has no more pages.");
    return present;
  }

  #node(ref: string): OutlineNode | undefined {
    return this.#present.nodes.find((node) => node.ref === ref);
  }

  read(status?: number): Promise<PageSight> {
    const nodes = this.#present.nodes.map((node) =>
      this.#filled.has(node.ref) ? { ...node, states: [...node.states, "filled" as const] } : node,
    );
    const outline = { ...this.#present, nodes };
    return Promise.resolve({ outline, reading: readPage(outline, status) });
  }

  act(act: PageAct): Promise<PageActResult> {
    this.acts.push(act);
    this.#navigations = [];
    if ("ref" in act && this.#node(act.ref) === undefined) return Promise.resolve({ outcome: "replaced" });
    if (act.kind === "fill") this.#filled.add(act.ref);
    if (act.kind === "click" || act.kind === "press") {
      this.#outlines.shift();
      this.#filled = new Set();
      this.#navigations = [this.#present.frames[0]?.url ?? ""];
    }
    return Promise.resolve({ outcome: "done" });
  }

  settle(): Promise<SettledPage> {
    const [frame] = this.#present.frames;
    return Promise.resolve({
      quiet: true,
      url: frame?.url ?? "",
      host: frame?.host ?? "",
      status: 200,
      navigations: this.#navigations,
      requests: [],
      dialogs: [],
      passkey_calls: [],
      changed_cookies: [],
    });
  }
}
