import type { Keyboard } from "../../../computer/keyboard.ts";
import type { Point } from "../../follow/points.ts";
import type { ActRun } from "../act-run.ts";

/** As in `MouseEvent.buttons`. */
const buttonBits = { left: 1, right: 2, middle: 4 } as const;
/** Longest wait until the page processes input, in milliseconds; a busy page receives it later. */
const inputMs = 2_000;
const leastInputMs = 100;

export type ClickButton = keyof typeof buttonBits;

interface MouseEvent extends Point {
  readonly type: "mouseMoved" | "mousePressed" | "mouseReleased";
  readonly button?: ClickButton;
  readonly buttons?: number;
  readonly clickCount?: number;
}

/** The mouse of an action. */
export class Pointer {
  readonly #run: ActRun;
  readonly #keyboard: Pick<Keyboard, "modifiers">;

  constructor(run: ActRun, keyboard: Pick<Keyboard, "modifiers">) {
    this.#run = run;
    this.#keyboard = keyboard;
  }

  async move({ x, y }: Point): Promise<void> {
    await this.#send({ type: "mouseMoved", x, y });
  }

  /** Press and release are sent together, so that the page cannot move the element between them. */
  async click(at: Point, { button = "left", count = 1 }: { button?: ClickButton; count?: number } = {}): Promise<void> {
    this.#run.hasBegun = true;
    const { x, y } = at;
    const sent: Promise<void>[] = [];
    for (let clickCount = 1; clickCount <= count; clickCount++)
      sent.push(
        this.#send({ type: "mousePressed", x, y, button, buttons: buttonBits[button], clickCount }),
        this.#send({ type: "mouseReleased", x, y, button, clickCount }),
      );
    await Promise.all(sent);
  }

  async wheel({ x, y }: Point, deltaX: number, deltaY: number): Promise<void> {
    this.#run.hasBegun = true;
    this.#run.point = { x, y };
    const { cdp, session } = this.#run.page;
    const { modifiers } = this.#keyboard;
    const params = { type: "mouseWheel", x, y, deltaX, deltaY, modifiers, pointerType: "mouse" } as const;
    await this.#answered(cdp.send("Input.dispatchMouseEvent", params, session.sessionId));
  }

  /** With the left button; `isDown` during a drag. */
  async dragTo(type: MouseEvent["type"], { x, y }: Point, isDown: boolean): Promise<void> {
    const isFree = type === "mouseMoved" && !isDown;
    await this.#send({
      type,
      x,
      y,
      ...(!isFree && { button: "left" }),
      buttons: isDown ? buttonBits.left : 0,
      clickCount: type === "mouseMoved" ? 0 : 1,
    });
  }

  async #send({ button, buttons = 0, clickCount = 0, type, x, y }: MouseEvent): Promise<void> {
    this.#run.point = { x, y };
    const { cdp, session } = this.#run.page;
    const { modifiers } = this.#keyboard;
    const params = {
      type,
      x,
      y,
      button: button ?? "none",
      buttons,
      clickCount,
      modifiers,
      pointerType: "mouse",
    } as const;
    await this.#answered(cdp.send("Input.dispatchMouseEvent", params, session.sessionId));
  }

  /** A dialog, or the end of the page, is an effect of the input. */
  async #answered(command: Promise<unknown>): Promise<void> {
    const waitMs = Math.max(leastInputMs, Math.min(inputMs, this.#run.leftMs));
    await this.#run.page.session.outcome(command, waitMs);
  }
}
