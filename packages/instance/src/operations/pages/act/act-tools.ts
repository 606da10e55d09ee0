import type { View } from "../../../browser/input/screen.ts";
import type { Keyboard } from "../../computer/keyboard.ts";
import { pressChord } from "../../computer/typing.ts";
import { createKeyboard } from "../../computer/keyboard.ts";
import { createPageView } from "../../computer/page-view.ts";
import { describeElement } from "../tabs/page-errors.ts";
import type { Act } from "./act-fields.ts";
import type { ActRun } from "./act-run.ts";
import { Actionable } from "./element/actionable.ts";
import { describeActed } from "./element/describe.ts";
import { Pointer } from "./input/pointer.ts";
import type { ActedTab, ElementSource } from "../tabs/element-source.ts";
import type { ElementHandle } from "../follow/element-handle.ts";

/** One action with everything that it uses. */
export class ActTools {
  readonly act: Act;
  readonly run: ActRun;
  readonly pages: ElementSource;
  readonly tab: ActedTab;
  readonly view: View;
  readonly keyboard: Keyboard;
  readonly pointer: Pointer;
  readonly actionable: Actionable;

  constructor(
    act: Act,
    { pages, run, tab }: { readonly pages: ElementSource; readonly run: ActRun; readonly tab: ActedTab },
  ) {
    this.act = act;
    this.run = run;
    this.pages = pages;
    this.tab = tab;
    this.view = createPageView(tab.page.session);
    this.keyboard = createKeyboard(this.view);
    this.pointer = new Pointer(run, this.keyboard);
    this.actionable = new Actionable(pages, tab, run, act.timeout_ms);
  }

  /** @param field - path of the chord in errors. @throws {ServiceError} 400 for an unknown key. */
  press(chord: string, field: string): Promise<void> {
    return pressChord(this.keyboard, { chord, field, durationMs: 0, signal: this.run.signal });
  }

  /** `e12 (button "Save")`, for errors. */
  async describe(element: ElementHandle): Promise<string> {
    const acted = await describeActed(this.pages, this.tab.id, element);
    return acted === undefined ? "The element" : describeElement(acted);
  }
}
