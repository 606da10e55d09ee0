import type { Socket } from "node:net";
import type { CdpDeparture, CdpDepartureReason } from "../../browser/cdp/departure.ts";
import type { EarlyTraffic } from "./early-traffic.ts";
import type { CdpGuard } from "./guard.ts";
import type { IdTranslation } from "./id-translation.ts";

export interface CdpSplice {
  readonly counts: Pick<CdpDeparture, "messageCount" | "unreadCount">;
  /** Why it ended: `client_close` unless another cause came first. */
  readonly reason: CdpDepartureReason;
  /** Whether every message and every answer has been passed on. */
  readonly isQuiet: boolean;
  /** The first messages of the client and the browser. */
  readonly early: EarlyTraffic;
  /** Whether the client is between two messages of the browser. */
  readonly atBoundary: boolean;
  /** Ignores the browser from now on. */
  leaveBrowser(): void;
  /** Holds the client's messages. The browser may end meanwhile. */
  hold(): void;
  /** Sends the held messages after as many calls as of {@link CdpSplice.hold}. */
  release(): void;
  /** Sends a message of the gateway to the client. */
  tell(text: string): void;
  /** Connects the client to another browser, which knows its state. */
  adopt(next: NewBrowser): void;
  /** Disconnects the client with a close frame; without one when the browser died in the middle of a message. */
  close(code: number, reason: string | undefined): void;
}

/** Takes the place of the browser of a client. */
export interface NewBrowser {
  /** Paused. */
  readonly socket: Socket;
  readonly guard: CdpGuard;
  readonly beforeLeaving: SpliceOptions["beforeLeaving"];
  readonly translation: IdTranslation;
}

export interface SpliceOptions {
  readonly client: Socket;
  readonly browser: Socket;
  readonly guard: CdpGuard;
  /** Records the messages of a blank browser. */
  readonly early: EarlyTraffic;
  /**
   * Called with each command before the guard. Returning a promise holds it and later messages, until it resolves:
   * with an answer, or with `undefined` to send the command.
   */
  readonly prepare: (message: Buffer) => Promise<string | undefined> | undefined;
  /** Whether every message needs inspection, at most {@link maxHeldBytes} long. */
  readonly mustInspect: () => boolean;
  /** The browser's connection stays open until it resolves. `undefined`: it is closed at once. */
  readonly beforeLeaving: () => Promise<void> | undefined;
  /** Called with each inspected message that is sent to the browser. */
  readonly onSent: (message: Buffer) => void;
  /** Called once, when both sockets are closed. */
  readonly onClosed: () => void;
}
