import { ServiceError } from "@shoal/router";
import type { Point } from "../../follow/points.ts";
import { describeElement } from "../../tabs/page-errors.ts";
import { choosesItem, NotActionable } from "../act-errors.ts";
import type { Target } from "../act-fields.ts";
import type { ActRun } from "../act-run.ts";
import { describeActed } from "./describe.ts";
import type { ActedTab, ElementSource } from "../../tabs/element-source.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import {
  choiceFunction,
  coverFunction,
  examineFunction,
  examineGuardedFunction,
  type Examined,
  type Obstacle,
  type Problem,
  previewFunction,
  scrollFunction,
  stillFunction,
} from "./examine.ts";
import { describeTarget, TargetFinder } from "./find-target.ts";
import { standInFunction } from "./field-functions.ts";
import { throughFrames } from "./through-frames.ts";

export interface Needs {
  readonly stable?: boolean;
  readonly enabled?: boolean;
  readonly editable?: boolean;
  /** The element receives events at its point. */
  readonly hit?: boolean;
  /** The point is in none of the items inside that a click would choose, such as the options of a list. */
  readonly own?: boolean;
  /** A click is decided by {@link guardFunction} from then on. In the page's own document only. */
  readonly guard?: boolean;
}

interface Request {
  readonly target: Target;
  readonly field: string;
  readonly needs: Needs;
  /** Returns another element to use, such as the field of a label. */
  readonly pick?: string;
  /** The element that the target was a moment ago. */
  readonly found?: ElementHandle;
  /** Whether `use` moves the pointer onto the element first. */
  readonly moves?: boolean;
}

export interface ReadyElement {
  readonly element: ElementHandle;
  /** Whether `use` has to see that the element does not move: {@link Actionable.moveOnto}. */
  readonly mayMove: boolean;
  /** In the page's viewport. */
  readonly point: Point;
}

/** Milliseconds between two attempts. */
const pausesMs = [0, 20, 50, 100, 100];
/** A control that moves for this time is used while it moves. Milliseconds. */
const stopsMs = 500;
const movingPauseMs = 20;
/** A sticky header may cover an element at one edge of the viewport. */
const alignments = ["center", "end", "start"] as const;

/** Waits until elements are ready for input, as Playwright does: visible, stable, enabled, editable, not covered. */
export class Actionable {
  readonly finder: TargetFinder;
  readonly #run: ActRun;
  readonly #pages: ElementSource;
  readonly #tab: ActedTab;
  readonly #timeoutMs: number;

  constructor(pages: ElementSource, tab: ActedTab, run: ActRun, timeoutMs: number) {
    this.finder = new TargetFinder(pages, tab, run);
    this.#run = run;
    this.#pages = pages;
    this.#tab = tab;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Calls `use` when the element is ready, again if it returns false, because the element changed meanwhile, an
   * obstacle, or an error, which is thrown at the time limit. A hidden control is used by the part that a person clicks for it.
   * @throws {ServiceError} 404, 409 at the time limit.
   */
  async untilUsed(
    request: Request,
    use: (ready: ReadyElement) => Promise<boolean | Problem | ServiceError>,
  ): Promise<ElementHandle> {
    const { field, moves = false, needs, pick, target } = request;
    let found = request.found ?? (await this.finder.wait(target, field));
    let movingSinceMs: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const stable = needs.stable === true && !this.#isUsedMoving(movingSinceMs);
      // The pointer's move waits for the same frame as this look.
      const mayMove = stable && moves && attempt === 0;
      const [element, place] = await this.#pickPlace(
        found,
        { ...needs, stable: stable && !mayMove },
        { attempt, pick },
      );
      const used = place.problem ?? (await use({ element: place.element, mayMove, point: place }));
      if (used === true) return element;
      const obstacle = used === false || typeof used === "object" ? "removed" : used;
      if (obstacle === "choice") throw await this.#choosing(target, place.element);
      if (obstacle === "moving") movingSinceMs ??= performance.now();
      if (this.#run.leftMs <= 0)
        throw typeof used === "object" ? used : await this.#failure(target, place.element, obstacle);
      await this.#run.pause(movingSinceMs === undefined ? (pausesMs[attempt] ?? 250) : movingPauseMs);
      if (obstacle === "removed") found = await this.finder.wait(target, field);
    }
  }

  async #pickPlace(
    found: ElementHandle,
    needs: Needs,
    { attempt, pick }: { attempt: number; pick: string | undefined },
  ) {
    const [picked, place] = await Promise.all([
      pick === undefined ? undefined : found.related(pick),
      this.#placeOf(found, needs, attempt),
    ]);
    // Most fields are found themselves.
    return picked === undefined
      ? ([found, place] as const)
      : ([picked, await this.#placeOf(picked, needs, attempt)] as const);
  }

  /** Moves the pointer onto an element. Returns false if the element has moved meanwhile. */
  async moveOnto({ element, mayMove, point }: ReadyElement, move: (to: Point) => Promise<void>): Promise<boolean> {
    const [still] = await Promise.all([mayMove ? element.call<boolean>(stillFunction) : true, move(point)]);
    return still !== false;
  }

  /** A control that does not stop is used where it is, as a person does. */
  #isUsedMoving(sinceMs: number | undefined): boolean {
    return sinceMs !== undefined && performance.now() - sinceMs > Math.min(stopsMs, this.#timeoutMs / 3);
  }

  /** Returns the point of an element, or of the part that a person clicks for it. */
  async #placeOf(
    element: ElementHandle,
    needs: Needs,
    attempt: number,
  ): Promise<Examined & { readonly element: ElementHandle }> {
    const examined = await this.examine(element, needs, attempt);
    const { problem } = examined;
    if (needs.hit !== true || (problem !== "covered" && problem !== "hidden" && problem !== "outside"))
      return { ...examined, element };
    const standIn = await element.related(standInFunction);
    const ofStandIn = standIn && (await this.examine(standIn, needs, attempt));
    return standIn === undefined || ofStandIn === undefined || ofStandIn.problem !== undefined
      ? { ...examined, element }
      : { ...ofStandIn, element: standIn };
  }

  /** Looks at an element once, after scrolling to it. The point is in the page's viewport. */
  async examine(element: ElementHandle, needs: Needs, attempt = 0): Promise<Examined> {
    const { editable = false, enabled = false, guard = false, hit = false, own = false, stable = false } = needs;
    const examining = guard ? examineGuardedFunction : examineFunction;
    const look = () => element.call<Examined>(examining, stable, enabled, editable, hit, own);
    let examined = (await look()) ?? { problem: "removed" as const };
    const mustScroll = examined.problem === "outside" || (examined.problem === "covered" && attempt > 0);
    if (mustScroll) {
      await this.#scrollTo(element, attempt);
      examined = (await look()) ?? { problem: "removed" };
    }
    if (examined.problem !== undefined) return examined;
    const inPage = await throughFrames(element, examined, hit);
    if (inPage.problem !== "outside") return inPage;
    await this.#scrollTo(element, attempt);
    const again = (await look()) ?? { problem: "removed" };
    return again.problem === undefined ? throughFrames(element, again, hit) : again;
  }

  async #scrollTo(element: ElementHandle, attempt: number): Promise<void> {
    const { backendNodeId, target } = element.address;
    const { cdp } = this.#run.page;
    if (attempt > 0) await element.call(scrollFunction, alignments[(attempt - 1) % alignments.length] ?? "center");
    await this.#run.ask(cdp.send("DOM.scrollIntoViewIfNeeded", { backendNodeId }, target.sessionId));
  }

  async #failure(target: Target, element: ElementHandle, obstacle: Obstacle): Promise<ServiceError> {
    const described = await this.#describe(element).catch(() => undefined);
    const cover = obstacle === "covered" ? await this.#describeCover(element).catch(() => undefined) : undefined;
    return new NotActionable(described ?? describeTarget(target), obstacle, { cover, timeoutMs: this.#timeoutMs });
  }

  /** 409 at once: no wait turns the items of a list into the list. */
  async #choosing(target: Target, element: ElementHandle): Promise<ServiceError> {
    const [described, choice] = await Promise.all([
      this.#describe(element).catch(() => undefined),
      element.related(choiceFunction),
    ]);
    const item = choice && (await this.#describe(choice).catch(() => undefined));
    return ServiceError.of(choosesItem(described ?? describeTarget(target), item));
  }

  async #describe(element: ElementHandle): Promise<string | undefined> {
    const acted = await describeActed(this.#pages, this.#tab.id, element);
    return acted && describeElement(acted);
  }

  async #describeCover(element: ElementHandle): Promise<string | undefined> {
    const cover = await element.related(coverFunction);
    if (cover === undefined) return undefined;
    const [preview, acted] = await Promise.all([
      cover.call<string>(previewFunction),
      describeActed(this.#pages, this.#tab.id, cover),
    ]);
    return `${String(preview)}${acted === undefined ? "" : ` [${acted.ref}]`}`;
  }
}
