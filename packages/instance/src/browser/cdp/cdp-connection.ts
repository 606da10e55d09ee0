import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;

/** The order in which pages were opened. */
export interface PageOrder {
  newestOf(targetIds: readonly string[]): string | undefined;
}

/** The dialogs of all tabs, from the creation of each tab. */
export interface DialogWatch {
  /** Returns the session that reports and answers a tab's dialogs. */
  sessionOf(targetId: string): string | undefined;
  openOn(targetId: string): Protocol.Page.JavascriptDialogOpeningEvent | undefined;
}

export interface CdpConnection {
  /** Sends a command to an attached target, or to the browser without `sessionId`. @throws {CdpError} */
  send<M extends keyof Commands>(
    method: M,
    params?: Commands[M]["paramsType"][0],
    sessionId?: string,
  ): Promise<Commands[M]["returnType"]>;
  /** Calls `listener` for each event of that name, with the event's session. Returns a function that removes it. */
  on<E extends keyof Events>(
    event: E,
    listener: (params: Events[E][0], sessionId: string | undefined) => void,
  ): () => void;
  readonly closed: Promise<void>;
  /** For a headless shell. Here, because several files of the program contain a copy of each module. */
  pageOrder?: PageOrder;
  /** For a full Chromium. */
  dialogs?: DialogWatch;
  /** Whether other sessions use the browser's clipboard, so that it must not be read. */
  readonly sharesClipboard?: boolean;
}

/** Code of the error for a command that would affect other sessions of the browser. */
export const refusedForOthers = -32_090;

const cdpErrorMarker = Symbol.for("shoal.error.CdpError");

export class CdpError extends Error {
  override readonly name = "CdpError";
  readonly [cdpErrorMarker] = true;
  readonly code: unknown;

  /** @param code - of the browser's or gateway's answer, if any. */
  constructor(message: string, code?: unknown) {
    super(message);
    this.code = code;
  }

  /** Several files of the program contain a copy of this class; `instanceof` works across them. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && cdpErrorMarker in value;
  }
}
