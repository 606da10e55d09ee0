import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection } from "../../../browser/cdp/cdp-connection.ts";
import { shownAddress } from "./shown-address.ts";

export interface ListedTab {
  /** `t1` */
  readonly id: string;
  readonly targetId: string;
  readonly url: string;
  readonly title: string;
}

/** Longest reported title, in characters. */
const maxTitleCharacters = 300;

/** Numbers the tabs of a browser in the order in which they were opened. An id is never used again. */
export class TabList {
  readonly #cdp: CdpConnection;
  readonly #ids = new Map<string, string>();
  readonly #stops: (() => void)[] = [];
  #sessionId: string | undefined;
  #lastId: number;

  /** @param lastId - the number of the last tab of an earlier browser. */
  constructor(cdp: CdpConnection, lastId = 0) {
    this.#cdp = cdp;
    this.#lastId = lastId;
  }

  get lastId(): number {
    return this.#lastId;
  }

  /** In the order in which they were opened. @throws {CdpError} */
  async list(): Promise<readonly ListedTab[]> {
    if (this.#sessionId === undefined) await this.#follow();
    const { targetInfos } = await this.#cdp.send("Target.getTargets", { filter: [{ type: "page" }] });
    const shown = targetInfos.filter(isTab);
    const open = new Set(shown.map(({ targetId }) => targetId));
    for (const targetId of this.#ids.keys()) if (!open.has(targetId)) this.#ids.delete(targetId);
    return shown
      .map(({ targetId, title, url }) => ({
        id: this.#idOf(targetId),
        targetId,
        url: shownAddress(url),
        title: title.slice(0, maxTitleCharacters),
      }))
      .sort((first, second) => numberOf(first.id) - numberOf(second.id));
  }

  close(): void {
    for (const stop of this.#stops.splice(0)) stop();
    const sessionId = this.#sessionId;
    this.#sessionId = undefined;
    if (sessionId !== undefined) this.#cdp.send("Target.detachFromTarget", { sessionId }).catch(() => undefined);
  }

  /** In a separate CDP session, so that other clients' settings stay unchanged. */
  async #follow(): Promise<void> {
    const { sessionId } = await this.#cdp.send("Target.attachToBrowserTarget");
    this.#sessionId = sessionId;
    const stop = this.#cdp.on("Target.targetCreated", ({ targetInfo }, from) => {
      if (from === sessionId && isTab(targetInfo)) this.#idOf(targetInfo.targetId);
    });
    this.#stops.push(stop);
    await this.#cdp.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] }, sessionId);
  }

  #idOf(targetId: string): string {
    const known = this.#ids.get(targetId);
    if (known !== undefined) return known;
    const id = `t${String(++this.#lastId)}`;
    this.#ids.set(targetId, id);
    return id;
  }
}

/** A subtype marks a page that is not shown, such as a prerendered one. */
function isTab({ subtype, type }: Protocol.Target.TargetInfo): boolean {
  return type === "page" && subtype === undefined;
}

function numberOf(id: string): number {
  return Number(id.slice(1));
}
