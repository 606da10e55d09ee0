import type { View } from "../../../browser/input/screen.ts";
import type { OfferedSecret } from "../../../protocol/offered-secret.ts";
import type { TypedSecrets } from "../../../secrets/typed-secrets.ts";
import type { SessionRoot } from "../../fs/paths.ts";
import type { Keyboard } from "../../computer/keyboard.ts";
import { pressChord } from "../../computer/typing.ts";
import { createKeyboard } from "../../computer/keyboard.ts";
import { PageView } from "../../computer/page-view.ts";
import { describeElement } from "../tabs/page-errors.ts";
import type { Act } from "./act-fields.ts";
import type { ActRun } from "./act-run.ts";
import { Actionable } from "./element/actionable.ts";
import { describeActed } from "./element/describe.ts";
import { Pointer } from "./input/pointer.ts";
import type { ActedTab, ElementSource } from "../tabs/element-source.ts";
import type { ElementHandle } from "../follow/element-handle.ts";
import type { NodeAddress } from "../follow/followed-page.ts";

/** A stored value for one action. */
export interface GivenSecret extends OfferedSecret {
  /** The only element that gets it; absent = the element that the action finds. */
  readonly only?: NodeAddress;
  /** Called before the page can have the value. */
  readonly onWrite?: () => void;
}

/** What actions on elements use of the session. */
export interface ActorParts {
  readonly root: SessionRoot;
  /** Values that were typed, and are hidden. */
  readonly secrets: Pick<TypedSecrets, "add" | "hidesPages">;
}

interface ToolParts {
  readonly pages: ElementSource;
  readonly run: ActRun;
  readonly tab: ActedTab;
  readonly offered?: GivenSecret | undefined;
}

/** One action with everything that it uses. */
export class ActTools {
  readonly act: Act;
  /** The stored value that the service sent for this action. */
  readonly offered: GivenSecret | undefined;
  readonly run: ActRun;
  readonly pages: ElementSource;
  readonly tab: ActedTab;
  readonly view: View;
  readonly keyboard: Keyboard;
  readonly pointer: Pointer;
  readonly actionable: Actionable;

  constructor(act: Act, { offered, pages, run, tab }: ToolParts) {
    this.act = act;
    this.offered = offered;
    this.run = run;
    this.pages = pages;
    this.tab = tab;
    this.view = new PageView(tab.page.session);
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
